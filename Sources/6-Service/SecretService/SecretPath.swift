/// The objects of the Secret Service, by their paths.
enum SecretPath: Equatable {
    case service
    case collection(String)
    case item(collection: String, id: String)
    /// A collection, or an item of it, by one of the collection's other names.
    case alias(String, item: String?)
    case session(String)
    case prompt(String)

    static let none = "/"
    private static let root = "/org/freedesktop/secrets"

    /// Nil for a path that the service does not have.
    init?(_ path: String) {
        guard path.hasPrefix(Self.root) else { return nil }
        let parts = path.dropFirst(Self.root.count).split(separator: "/").map(String.init)
        switch (parts.first, parts.count) {
        case (nil, 0): self = .service
        case ("collection", 2): self = .collection(parts[1])
        case ("collection", 3): self = .item(collection: parts[1], id: parts[2])
        case ("aliases", 2): self = .alias(parts[1], item: nil)
        case ("aliases", 3): self = .alias(parts[1], item: parts[2])
        case ("session", 2): self = .session(parts[1])
        case ("prompt", 2): self = .prompt(parts[1])
        default: return nil
        }
    }

    var text: String {
        switch self {
        case .service: Self.root
        case .collection(let id): "\(Self.root)/collection/\(id)"
        case .item(let collection, let id): "\(Self.root)/collection/\(collection)/\(id)"
        case .alias(let name, nil): "\(Self.root)/aliases/\(name)"
        case .alias(let name, let item?): "\(Self.root)/aliases/\(name)/\(item)"
        case .session(let id): "\(Self.root)/session/\(id)"
        case .prompt(let id): "\(Self.root)/prompt/\(id)"
        }
    }

    /// The interface of such an object.
    var interface: String {
        let name =
            switch self {
            case .service: "Service"
            case .collection, .alias(_, nil): "Collection"
            case .item, .alias: "Item"
            case .session: "Session"
            case .prompt: "Prompt"
            }
        return "org.freedesktop.Secret.\(name)"
    }
}
