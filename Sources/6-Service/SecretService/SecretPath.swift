import Bytes

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
        guard path != Self.root else {
            self = .service
            return
        }
        guard path.hasPrefix(Self.root + "/") else { return nil }
        let parts = path.dropFirst(Self.root.count + 1).split(separator: "/", omittingEmptySubsequences: false)
            .map(String.init)
        guard parts.allSatisfy(Self.isName) else { return nil }
        switch (parts.first, parts.count) {
        case ("collection", 2): self = .collection(parts[1])
        case ("collection", 3): self = .item(collection: parts[1], id: parts[2])
        case ("aliases", 2): self = .alias(parts[1], item: nil)
        case ("aliases", 3): self = .alias(parts[1], item: parts[2])
        case ("session", 2): self = .session(parts[1])
        case ("prompt", 2): self = .prompt(parts[1])
        default: return nil
        }
    }

    /// Whether a text can be a part of a path (D-Bus specification, "Valid Object Paths").
    static func isName(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// Returns a part of a path for a label, as gnome-keyring makes it: space and slash count as underscores, and all
    /// bytes but letters and digits are in hexadecimal after an underscore.
    static func name(of label: String) -> String {
        label.utf8.reduce(into: "") { name, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                name.unicodeScalars.append(UnicodeScalar(byte))
            case UInt8(ascii: " "), UInt8(ascii: "/"): name += "_5f"
            default: name += "_" + CollectionOfOne(byte).hexadecimal()
            }
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
    var interface: SecretInterface {
        switch self {
        case .service: .service
        case .collection, .alias(_, nil): .collection
        case .item, .alias: .item
        case .session: .session
        case .prompt: .prompt
        }
    }
}

/// The interfaces with methods: one for each kind of object, and the one for the properties of all.
enum SecretInterface: String {
    case service = "org.freedesktop.Secret.Service"
    case collection = "org.freedesktop.Secret.Collection"
    case item = "org.freedesktop.Secret.Item"
    case session = "org.freedesktop.Secret.Session"
    case prompt = "org.freedesktop.Secret.Prompt"
    case properties = "org.freedesktop.DBus.Properties"
}
