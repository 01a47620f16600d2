import Foundation
import SystemBus
import TestSupport
import Testing

@testable import SecretService

/// What programs that ask which interfaces an object has get to read.
@Suite struct IntrospectionTests {
    private static let peer = Result {
        try PythonPeer(
            URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Peer/secret_service.py").path)
    }

    /// What Python's XML reads: interface, kind of member, and the attributes of the member and of its arguments.
    private func read(_ document: String) throws -> [String] {
        try Self.peer.get().ask(["introspection", document]).split(separator: "\n").map(String.init)
    }

    private static let objects: [(SecretPath, String)] = [
        (.service, "Service"), (.collection("login"), "Collection"), (.alias("default", item: nil), "Collection"),
        (.item(collection: "login", id: "a"), "Item"), (.alias("default", item: "a"), "Item"),
        (.session("s1"), "Session"), (.prompt("p1"), "Prompt"),
    ]

    /// The files keep what programs know of the service. Programs notice a change of them.
    @Test(arguments: objects) func theTextIsTheSame(_ path: SecretPath, _ name: String) throws {
        let url = try #require(Bundle.module.url(forResource: "Fixtures/\(name)", withExtension: "xml"))
        #expect(try Introspection.document(of: path.text, nodes: []) == String(contentsOf: url, encoding: .utf8))
    }

    private func argument(_ name: String, _ type: String, _ direction: String) -> String {
        " direction=\(direction) name=\(name) type=\(type)"
    }

    /// The methods and properties of an interface, out of the lists by which calls are answered.
    private func listed(_ interface: SecretInterface) -> Set<String> {
        let methods = SecretMethods.all.map { $0.declaration }.filter { $0.interface == interface }.map { method in
            "\(interface.rawValue) method name=\(method.name)"
                + method.input.map { argument($0.key, $0.value, "in") }.joined()
                + method.output.map { argument($0.key, $0.value, "out") }.joined()
        }
        func properties<Object>(_ properties: [SecretProperty<Object>]) -> [String] {
            properties.map {
                let access = $0.isWritable ? "readwrite" : "read"
                return "\(interface.rawValue) property access=\(access) name=\($0.name) type=\($0.type)"
            }
        }
        switch interface {
        case .service: return Set(methods + properties(SecretProperties.service))
        case .collection: return Set(methods + properties(SecretProperties.collection))
        case .item: return Set(methods + properties(SecretProperties.item))
        case .session, .prompt, .properties: return Set(methods)
        }
    }

    @Test(arguments: objects.map(\.0)) func theTextHasWhatTheListsHave(_ path: SecretPath) throws {
        let members = try read(Introspection.document(of: path.text, nodes: []))
        let (signals, others) = (
            members.filter { $0.contains(" signal ") }, members.filter { !$0.contains(" signal ") }
        )
        #expect(Set(others) == listed(path.interface).union(listed(.properties)))
        #expect(others.count == Set(others).count && signals.count == Set(signals).count)
    }

    /// A path on the way to the service has no interface, and every path has its nodes.
    @Test func nodes() throws {
        #expect(try read(Introspection.document(of: "/org", nodes: ["freedesktop"])) == ["node freedesktop"])
        let members = try read(Introspection.document(of: SecretPath.service.text, nodes: ["aliases", "collection"]))
        #expect(members.suffix(2) == ["node aliases", "node collection"] && members.count > 10)
    }

    /// Programs read it with a call, whatever they name the method.
    @Test func programsReadIt() throws {
        let service = try ServiceUnderTest()
        let item = try service.createItem(["a": "1"], "swordfish", session: service.openSession())
        for (path, nodes) in [
            ("/", ["org"]), ("/org/freedesktop", ["secrets"]), ("/org/freedesktop/secrets", ["aliases", "collection"]),
            ("/org/freedesktop/secrets/collection", ["login", "session"]),
            (SecretPath.collection("login").text, [item.split(separator: "/").last.map(String.init) ?? ""]),
            (item, []), ("/other", []),
        ] {
            let answer = try service.ask(path, Introspection.introspectable, "Introspect")
            #expect(answer.values == [.string(Introspection.document(of: path, nodes: nodes))])
        }
    }

    /// An object has the properties that its interface says, of the types that it says.
    @Test func propertiesHaveTheDeclaredTypes() throws {
        let service = try ServiceUnderTest()
        let item = try service.createItem(["a": "1", "xdg:schema": "s"], "swordfish", session: service.openSession())
        func check<Object>(_ path: String, _ declared: [SecretProperty<Object>]) throws {
            let name = SecretInterface.properties.rawValue
            let all = try service.ask(path, name, "GetAll", "s", [.string("")]).values
            var one: [BusArgument] = []
            for property in declared.sorted(by: { $0.name < $1.name }) {
                let answer = try service.ask(
                    path, name, "Get", "ss", [.string(""), .string(property.name)])
                let value = try #require(answer.values.first)
                guard case .variant(let content) = value else {
                    Issue.record("\(value)")
                    continue
                }
                #expect(content.type == property.type, "\(property.name)")
                one.append(.entry(.string(property.name), value))
            }
            #expect(all == [.array(of: "{sv}", one)])
        }
        try check(SecretPath.service.text, SecretProperties.service)
        try check(SecretPath.collection("login").text, SecretProperties.collection)
        try check(item, SecretProperties.item)
        // Of a locked item, the values have the same types.
        for property in SecretProperties.item {
            let value = try property.value(nil)
            #expect(value.type == property.type && (value == .boolean(true)) == (property.name == "Locked"))
        }
    }

    /// What can be set is what is said to be writable.
    @Test func writablePropertiesCanBeSet() throws {
        let service = try ServiceUnderTest()
        let item = try service.createItem(["a": "1"], "swordfish", session: service.openSession())
        let own = try service.ask(.service, "CreateCollection", "a{sv}s", [.array([]), .string("")])
        guard case .path(let collection)? = own.first else {
            Issue.record("\(own)")
            return
        }
        let samples: [String: BusValue] = [
            "s": .string("new"), "a{ss}": .array([.structure([.string("b"), .string("2")])]), "b": .boolean(false),
            "t": .unsigned(1), "ao": .array([]),
        ]
        func check<Object>(_ path: String, _ declared: [SecretProperty<Object>]) throws {
            for property in declared {
                let value = try #require(samples[property.type])
                let error = service.error(
                    path, SecretInterface.properties.rawValue, "Set", "ssv",
                    [.string(""), .string(property.name), .variant(value)])
                let isSet = error == "no error: []"
                #expect(isSet == property.isWritable, "\(property.name): \(error)")
                #expect(isSet || error == "PropertyReadOnly: \(property.name) cannot be set")
            }
        }
        try check(SecretPath.service.text, SecretProperties.service)
        try check(collection, SecretProperties.collection)
        try check(item, SecretProperties.item)
    }
}
