import Foundation
import KeychainModel
import SystemBus
import Testing

@testable import SecretService

/// What programs get for calls of what is not there.
@Suite struct SecretRefusalTests {
    private let service: ServiceUnderTest
    private let root = SecretPath.service.text
    private let login = SecretPath.collection("login").text
    private let own = SecretInterface.service.rawValue
    private let properties = SecretInterface.properties.rawValue

    init() throws { service = try ServiceUnderTest() }

    @Test func unknownMethods() {
        #expect(service.error(root, own, "Frobnicate") == "UnknownMethod: there is no method Frobnicate of \(own)")
        #expect(service.error(root, own, "opensession").hasPrefix("UnknownMethod: "))
        #expect(service.error(root, own, "").hasPrefix("UnknownMethod: "))
        // A method of another interface.
        #expect(service.error(root, own, "GetAll", "s", [.string("")]).hasPrefix("UnknownMethod: "))
    }

    @Test func unknownInterfaces() {
        for interface in ["org.example.Other", "org.freedesktop.DBus", "org.freedesktop.Secret.service", " "] {
            #expect(
                service.error(root, interface, "ReadAlias", "s", [.string("default")])
                    == "UnknownMethod: there is no method ReadAlias of \(interface)")
        }
    }

    /// Each object has the methods of its own kind.
    @Test func interfacesOfOtherObjects() {
        let objects = SecretInterface.all.filter { $0 != .properties }
        for object in objects {
            for method in SecretMethods.all.map({ $0.declaration })
            where method.interface != object && method.interface != .properties {
                #expect(
                    service.error(object.sample.text, method.interface.rawValue, method.name, method.signature)
                        == "UnknownMethod: there is no method \(method.name) of \(method.interface.rawValue)")
            }
        }
    }

    /// A call without an interface is one of the object's own, and of no other.
    @Test func callsWithoutAnInterface() throws {
        let answer = try service.ask(root, "", "ReadAlias", "s", [.string("default")])
        #expect(answer.values == [.path(login)])
        #expect(service.error(root, "", "GetAll", "s", [.string("")]) == "UnknownMethod: there is no method GetAll of ")
        #expect(service.error(root, "", "Delete") == "UnknownMethod: there is no method Delete of ")
    }

    @Test(arguments: [
        "/", "/org/freedesktop", "/org/freedesktop/secrets/", "/org/freedesktop/secrets/other/a", "x", "",
    ])
    func unknownPaths(_ path: String) {
        // The path is looked at first.
        for member in ["ReadAlias", "Frobnicate"] {
            #expect(service.error(path, own, member, "i") == "NoSuchObject: there is no \(path)")
        }
    }

    @Test func objectsThatAreGone() throws {
        let session = try service.openSession()
        let names = SecretInterface.self
        let attributes = BusValue.array([])
        let (none, item) = (SecretPath.collection("none").text, SecretPath.item(collection: "login", id: "none").text)
        #expect(
            service.error(none, names.collection.rawValue, "SearchItems", "a{ss}", [attributes])
                == "NoSuchObject: there is no \(none)")
        #expect(service.error(none, properties, "GetAll", "s", [.string("")]) == "NoSuchObject: there is no \(none)")
        #expect(
            service.error(item, names.item.rawValue, "GetSecret", "o", [.string(session)])
                == "NoSuchObject: there is no \(item)")
        #expect(service.error(item, properties, "GetAll", "s", [.string("")]) == "NoSuchObject: there is no \(item)")
        let alias = SecretPath.alias("none", item: nil).text
        #expect(service.error(alias, names.collection.rawValue, "Delete") == "NoSuchObject: there is no \(alias)")
        for path in [SecretPath.session("s99"), .prompt("p99")] {
            let member = path.interface == .session ? "Close" : "Dismiss"
            #expect(
                service.error(path.text, path.interface.rawValue, member) == "NoSuchObject: there is no \(path.text)")
        }
        _ = try service.ask(session, names.session.rawValue, "Close")
        #expect(
            service.error(session, names.session.rawValue, "Close") == "NoSuchObject: there is no \(session)")
    }

    /// What a program may not say is looked at after the object that it says it of.
    @Test func sessionsThatAreNotOpen() throws {
        let item = try service.createItem([:], "swordfish", session: service.openSession())
        for session in ["/", SecretPath.session("s99").text, login] {
            #expect(
                service.error(item, SecretInterface.item.rawValue, "GetSecret", "o", [.string(session)])
                    == "NoSession: open a session first")
            #expect(
                service.error(
                    item, SecretInterface.item.rawValue, "SetSecret", "(oayays)",
                    [.transferred("x", session: session)]) == "NoSession: open a session first")
            #expect(
                service.error(root, own, "GetSecrets", "aoo", [.array([.string(item)]), .string(session)])
                    == "NoSession: open a session first")
        }
        let none = SecretPath.item(collection: "login", id: "none").text
        #expect(
            service.error(
                none, SecretInterface.item.rawValue, "SetSecret", "(oayays)", [.transferred("x", session: "/")])
                == "NoSuchObject: there is no \(none)")
    }

    @Test func propertiesThatAreNotThere() {
        let collection = SecretInterface.collection.rawValue
        let alias = SecretPath.alias("default", item: nil).text
        // The program reads the path that it said.
        for path in [login, alias] {
            for (member, signature, rest) in [
                ("GetAll", "s", []), ("Get", "ss", [BusValue.string("Label")]),
                ("Set", "ssv", [.string("Label"), .variant(.string("x"))]),
            ] {
                #expect(
                    service.error(path, properties, member, signature, [.string(own)] + rest)
                        == "UnknownInterface: \(path) has no \(own)")
            }
        }
        #expect(
            service.error(login, properties, "Get", "ss", [.string(collection), .string("label")])
                == "UnknownProperty: there is no property label of \(collection)")
        for (name, value) in [
            ("Locked", BusValue.boolean(false)), ("Items", .array([])), ("Label", .boolean(true)),
            ("none", .string("")),
        ] {
            #expect(
                service.error(login, properties, "Set", "ssv", [.string(collection), .string(name), .variant(value)])
                    == "PropertyReadOnly: \(name) cannot be set")
        }
    }

    @Test func valuesThatDoNotFit() throws {
        let session = try service.openSession()
        func creation(_ name: String, _ value: BusValue, type: String = "text/plain") -> [BusValue] {
            let secret = BusValue.structure([
                .string(session), .bytes(Data()), .bytes(Data([1])), .string(type),
            ])
            let entry = BusValue.structure([.string("org.freedesktop.Secret.Item.\(name)"), .variant(value)])
            return [.array([entry]), secret, .boolean(false)]
        }
        func error(_ arguments: [BusValue]) -> String {
            service.error(login, SecretInterface.collection.rawValue, "CreateItem", "a{sv}(oayays)b", arguments)
        }
        let long = String(repeating: "x", count: 4 << 10)
        #expect(error(creation("Label", .string(long))).hasPrefix("no error"))
        #expect(error(creation("Label", .string(long + "x"))) == "LimitsExceeded: a label has up to 4 KiB")
        #expect(
            error(creation("Attributes", .array([.structure([.string("a"), .boolean(true)])])))
                == "InvalidArgs: attributes are texts by name")
        #expect(
            error(creation("Attributes", .array([.structure([.string(""), .string("")])])))
                == "InvalidArgs: the name of a custom attribute has 1 to 255 bytes")
        #expect(
            error(creation("Label", .string(""), type: String(repeating: "t", count: 256)))
                == "LimitsExceeded: a content type has up to 255 bytes")
        var large = creation("Label", .string(""))
        large[1] = .structure([
            .string(session), .bytes(Data()), .bytes(Data(count: TransferredSecret.limit + 1)), .string(""),
        ])
        #expect(error(large) == "LimitsExceeded: a secret has up to 2 MiB")
        #expect(
            service.error(root, own, "SetAlias", "so", [.string(""), .string(login)])
                == "InvalidArgs: SetAlias takes a name and a collection")
        #expect(
            service.error(login, SecretInterface.collection.rawValue, "Delete")
                == "NotSupported: the collections login and session cannot be deleted")
        #expect(
            service.error(root, own, "OpenSession", "sv", [.string("other"), .variant(.string(""))])
                == "NotSupported: the algorithms are plain and dh-ietf1024-sha256-aes128-cbc-pkcs7")
    }
}
