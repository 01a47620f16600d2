/// The interfaces as programs ask for them (D-Bus specification, "Introspection Data Format").
enum Introspection {
    private struct Method {
        let name: String
        /// The names and types of the arguments.
        let input: [(String, String)]
        let output: [(String, String)]

        init(_ name: String, _ input: [(String, String)] = [], out output: [(String, String)] = []) {
            (self.name, self.input, self.output) = (name, input, output)
        }

        var text: String {
            let arguments =
                input.map { "<arg name=\"\($0.0)\" type=\"\($0.1)\" direction=\"in\"/>" }
                + output.map { "<arg name=\"\($0.0)\" type=\"\($0.1)\" direction=\"out\"/>" }
            return "<method name=\"\(name)\">\(arguments.joined())</method>"
        }
    }

    static let properties = "org.freedesktop.DBus.Properties"
    static let introspectable = "org.freedesktop.DBus.Introspectable"

    private static let methods: [String: [Method]] = [
        "org.freedesktop.Secret.Service": [
            Method("OpenSession", [("algorithm", "s"), ("input", "v")], out: [("output", "v"), ("result", "o")]),
            Method(
                "CreateCollection", [("properties", "a{sv}"), ("alias", "s")],
                out: [("collection", "o"), ("prompt", "o")]),
            Method("SearchItems", [("attributes", "a{ss}")], out: [("unlocked", "ao"), ("locked", "ao")]),
            Method("Unlock", [("objects", "ao")], out: [("unlocked", "ao"), ("prompt", "o")]),
            Method("Lock", [("objects", "ao")], out: [("locked", "ao"), ("prompt", "o")]),
            Method("GetSecrets", [("items", "ao"), ("session", "o")], out: [("secrets", "a{o(oayays)}")]),
            Method("ReadAlias", [("name", "s")], out: [("collection", "o")]),
            Method("SetAlias", [("name", "s"), ("collection", "o")]),
        ],
        "org.freedesktop.Secret.Collection": [
            Method("Delete", out: [("prompt", "o")]),
            Method("SearchItems", [("attributes", "a{ss}")], out: [("results", "ao")]),
            Method(
                "CreateItem", [("properties", "a{sv}"), ("secret", "(oayays)"), ("replace", "b")],
                out: [("item", "o"), ("prompt", "o")]),
        ],
        "org.freedesktop.Secret.Item": [
            Method("Delete", out: [("prompt", "o")]),
            Method("GetSecret", [("session", "o")], out: [("secret", "(oayays)")]),
            Method("SetSecret", [("secret", "(oayays)")]),
        ],
        "org.freedesktop.Secret.Session": [Method("Close")],
        "org.freedesktop.Secret.Prompt": [Method("Prompt", [("window-id", "s")]), Method("Dismiss")],
        properties: [
            Method("Get", [("interface", "s"), ("name", "s")], out: [("value", "v")]),
            Method("GetAll", [("interface", "s")], out: [("values", "a{sv}")]),
            Method("Set", [("interface", "s"), ("name", "s"), ("value", "v")]),
        ],
    ]

    /// What an interface has besides methods.
    private static let others: [String: String] = [
        "org.freedesktop.Secret.Service":
            signal("CollectionCreated", ("collection", "o")) + signal("CollectionDeleted", ("collection", "o"))
            + signal("CollectionChanged", ("collection", "o")) + property("Collections", "ao"),
        "org.freedesktop.Secret.Collection":
            signal("ItemCreated", ("item", "o")) + signal("ItemDeleted", ("item", "o"))
            + signal("ItemChanged", ("item", "o")) + property("Items", "ao") + property("Label", "s", "readwrite")
            + property("Locked", "b") + property("Created", "t") + property("Modified", "t"),
        "org.freedesktop.Secret.Item":
            property("Locked", "b") + property("Attributes", "a{ss}", "readwrite") + property("Label", "s", "readwrite")
            + property("Type", "s") + property("Created", "t") + property("Modified", "t"),
        "org.freedesktop.Secret.Prompt": signal("Completed", ("dismissed", "b"), ("result", "v")),
        properties: signal("PropertiesChanged", ("interface", "s"), ("changed", "a{sv}"), ("invalidated", "as")),
    ]

    /// - Parameter nodes: The names of the objects under this one.
    static func document(of path: String, nodes: [String]) -> String {
        let interfaces = SecretPath(path).map { interface($0.interface) + interface(properties) } ?? ""
        return """
            <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
            <node>\(interfaces)\(nodes.map { "<node name=\"\($0)\"/>" }.joined())</node>
            """
    }

    /// Returns the types of the arguments of a method; nil if there is no such method.
    static func input(of member: String, in interface: String) -> String? {
        methods[interface]?.first { $0.name == member }.map { $0.input.map(\.1).joined() }
    }

    private static func interface(_ name: String) -> String {
        let members = (methods[name] ?? []).map(\.text).joined() + (others[name] ?? "")
        return "<interface name=\"\(name)\">\(members)</interface>"
    }

    private static func signal(_ name: String, _ arguments: (String, String)...) -> String {
        let arguments = arguments.map { "<arg name=\"\($0.0)\" type=\"\($0.1)\"/>" }
        return "<signal name=\"\(name)\">\(arguments.joined())</signal>"
    }

    private static func property(_ name: String, _ type: String, _ access: String = "read") -> String {
        "<property name=\"\(name)\" type=\"\(type)\" access=\"\(access)\"/>"
    }
}
