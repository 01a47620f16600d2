/// The interfaces as programs ask for them (D-Bus specification, "Introspection Data Format").
enum Introspection {
    static let introspectable = "org.freedesktop.DBus.Introspectable"

    /// - Parameter nodes: The names of the objects under this one.
    static func document(of path: String, nodes: [String]) -> String {
        let interfaces = SecretPath(path).map { text($0.interface) + text(.properties) } ?? ""
        return """
            <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
            <node>\(interfaces)\(nodes.map { "<node name=\"\($0)\"/>" }.joined())</node>
            """
    }

    private static func text(_ interface: SecretInterface) -> String {
        let methods = SecretMethods.all.map { $0.declaration }.filter { $0.interface == interface }.map { method in
            let arguments = text(method.input, " direction=\"in\"") + text(method.output, " direction=\"out\"")
            return "<method name=\"\(method.name)\">\(arguments)</method>"
        }
        return "<interface name=\"\(interface.rawValue)\">\((methods + others(of: interface)).joined())</interface>"
    }

    /// What an interface has besides methods: signals, and then properties.
    private static func others(of interface: SecretInterface) -> [String] {
        switch interface {
        case .service:
            ["CollectionCreated", "CollectionDeleted", "CollectionChanged"].map { signal($0, ["collection": "o"]) }
                + SecretProperties.service.map(\.introspection)
        case .collection:
            ["ItemCreated", "ItemDeleted", "ItemChanged"].map { signal($0, ["item": "o"]) }
                + SecretProperties.collection.map(\.introspection)
        case .item: SecretProperties.item.map(\.introspection)
        case .session: []
        case .prompt: [signal("Completed", ["dismissed": "b", "result": "v"])]
        case .properties:
            [signal("PropertiesChanged", ["interface": "s", "changed": "a{sv}", "invalidated": "as"])]
        }
    }

    private static func signal(_ name: String, _ arguments: KeyValuePairs<String, String>) -> String {
        "<signal name=\"\(name)\">\(text(arguments))</signal>"
    }

    private static func text(_ arguments: KeyValuePairs<String, String>, _ direction: String = "") -> String {
        arguments.map { "<arg name=\"\($0.key)\" type=\"\($0.value)\"\(direction)/>" }.joined()
    }
}

extension SecretProperty {
    fileprivate var introspection: String {
        "<property name=\"\(name)\" type=\"\(type)\" access=\"\(isWritable ? "readwrite" : "read")\"/>"
    }
}
