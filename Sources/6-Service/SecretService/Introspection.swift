/// The interfaces as programs ask for them (D-Bus specification, "Introspection Data Format").
enum Introspection {
    static func document(for path: SecretPath?) -> String {
        switch path {
        case .service?: node(service)
        case .collection?, .alias(_, nil)?: node(collection)
        case .item?, .alias?: node(item)
        case .session?: node(session)
        case .prompt?: node(prompt)
        case nil: "<node/>"
        }
    }

    private static func node(_ interface: String) -> String {
        """
        <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
        <node>\(interface)\(properties)</node>
        """
    }

    private static func interface(_ name: String, _ members: String...) -> String {
        "<interface name=\"org.freedesktop.Secret.\(name)\">\(members.joined())</interface>"
    }

    private static func method(_ name: String, in input: [(String, String)], out: [(String, String)] = []) -> String {
        let arguments =
            input.map { "<arg name=\"\($0.0)\" type=\"\($0.1)\" direction=\"in\"/>" }
            + out.map { "<arg name=\"\($0.0)\" type=\"\($0.1)\" direction=\"out\"/>" }
        return "<method name=\"\(name)\">\(arguments.joined())</method>"
    }

    private static func signal(_ name: String, _ arguments: (String, String)...) -> String {
        let arguments = arguments.map { "<arg name=\"\($0.0)\" type=\"\($0.1)\"/>" }
        return "<signal name=\"\(name)\">\(arguments.joined())</signal>"
    }

    private static func property(_ name: String, _ type: String, _ access: String = "read") -> String {
        "<property name=\"\(name)\" type=\"\(type)\" access=\"\(access)\"/>"
    }

    private static let service = interface(
        "Service",
        method(
            "OpenSession", in: [("algorithm", "s"), ("input", "v")], out: [("output", "v"), ("result", "o")]),
        method(
            "CreateCollection", in: [("properties", "a{sv}"), ("alias", "s")],
            out: [("collection", "o"), ("prompt", "o")]),
        method("SearchItems", in: [("attributes", "a{ss}")], out: [("unlocked", "ao"), ("locked", "ao")]),
        method("Unlock", in: [("objects", "ao")], out: [("unlocked", "ao"), ("prompt", "o")]),
        method("Lock", in: [("objects", "ao")], out: [("locked", "ao"), ("prompt", "o")]),
        method("GetSecrets", in: [("items", "ao"), ("session", "o")], out: [("secrets", "a{o(oayays)}")]),
        method("ReadAlias", in: [("name", "s")], out: [("collection", "o")]),
        method("SetAlias", in: [("name", "s"), ("collection", "o")]),
        signal("CollectionCreated", ("collection", "o")), signal("CollectionDeleted", ("collection", "o")),
        signal("CollectionChanged", ("collection", "o")), property("Collections", "ao"))

    private static let collection = interface(
        "Collection", method("Delete", in: [], out: [("prompt", "o")]),
        method("SearchItems", in: [("attributes", "a{ss}")], out: [("results", "ao")]),
        method(
            "CreateItem", in: [("properties", "a{sv}"), ("secret", "(oayays)"), ("replace", "b")],
            out: [("item", "o"), ("prompt", "o")]),
        signal("ItemCreated", ("item", "o")), signal("ItemDeleted", ("item", "o")),
        signal("ItemChanged", ("item", "o")), property("Items", "ao"), property("Label", "s", "readwrite"),
        property("Locked", "b"), property("Created", "t"), property("Modified", "t"))

    private static let item = interface(
        "Item", method("Delete", in: [], out: [("prompt", "o")]),
        method("GetSecret", in: [("session", "o")], out: [("secret", "(oayays)")]),
        method("SetSecret", in: [("secret", "(oayays)")]), property("Locked", "b"),
        property("Attributes", "a{ss}", "readwrite"), property("Label", "s", "readwrite"), property("Type", "s"),
        property("Created", "t"), property("Modified", "t"))

    private static let session = interface("Session", method("Close", in: []))

    private static let prompt = interface(
        "Prompt", method("Prompt", in: [("window-id", "s")]), method("Dismiss", in: []),
        signal("Completed", ("dismissed", "b"), ("result", "v")))

    private static let properties = """
        <interface name="org.freedesktop.DBus.Properties">\
        \(method("Get", in: [("interface", "s"), ("name", "s")], out: [("value", "v")]))\
        \(method("GetAll", in: [("interface", "s")], out: [("values", "a{sv}")]))\
        \(method("Set", in: [("interface", "s"), ("name", "s"), ("value", "v")]))\
        \(signal("PropertiesChanged", ("interface", "s"), ("changed", "a{sv}"), ("invalidated", "as")))\
        </interface>
        """
}
