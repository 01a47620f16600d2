/// The objects of the Secret Service, by their paths.
enum SecretPath: Equatable {
    case service
    case collection(String)
    case item(collection: String, id: String)
    case session(String)

    static let none = "/"
    private static let root = "/org/freedesktop/secrets"

    /// Nil for a path that is none of the service's.
    init?(_ path: String) {
        guard path.hasPrefix(Self.root) else { return nil }
        let parts = path.dropFirst(Self.root.count).split(separator: "/").map(String.init)
        switch (parts.first, parts.count) {
        case (nil, 0): self = .service
        case ("collection", 2): self = .collection(parts[1])
        case ("collection", 3): self = .item(collection: parts[1], id: parts[2])
        // The names of programs for a collection stand for it in paths, too.
        case ("aliases", 2): self = .collection(SecretAlias.collection(parts[1]) ?? parts[1])
        case ("aliases", 3): self = .item(collection: SecretAlias.collection(parts[1]) ?? parts[1], id: parts[2])
        case ("session", 2): self = .session(parts[1])
        default: return nil
        }
    }

    var text: String {
        switch self {
        case .service: Self.root
        case .collection(let id): "\(Self.root)/collection/\(id)"
        case .item(let collection, let id): "\(Self.root)/collection/\(collection)/\(id)"
        case .session(let id): "\(Self.root)/session/\(id)"
        }
    }
}

/// The names by which programs ask for a collection.
enum SecretAlias {
    static func collection(_ alias: String) -> String? {
        switch alias {
        case "default", SecretStore.defaultCollection: SecretStore.defaultCollection
        case SecretStore.sessionCollection: SecretStore.sessionCollection
        default: nil
        }
    }
}
