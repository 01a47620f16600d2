import Foundation
import KeychainModel
import SystemBus
import TestSupport
import Testing

@testable import SecretService

/// What programs may call, and with which arguments.
@Suite struct SecretMethodTests {
    private func request(_ method: MethodDeclaration, _ signature: String) -> BusRequest {
        BusRequest(
            path: method.interface.sample.text, interface: method.interface.rawValue, member: method.name, sender: "",
            signature: signature)
    }

    /// Values of each type in a signature.
    private func samples(_ input: KeyValuePairs<String, String>) throws -> [BusValue] {
        let samples: [String: BusValue] = [
            "s": .string("text"), "o": .string("/path"), "b": .boolean(true), "v": .variant(.string("inside")),
            "ao": .array([.string("/a"), .string("/b")]), "(oayays)": .transferred("secret", session: "/session"),
            "a{ss}": .array([.structure([.string("name"), .string("value")])]),
            "a{sv}": .array([.structure([.string("name"), .variant(.boolean(true))])]),
        ]
        let values = try input.map { try #require(samples[$0.value], "no sample of \($0.value)") }
        #expect(values.match(input.map(\.value).joined()))
        return values
    }

    @Test func eachMethodIsThereOnce() {
        let names = SecretMethods.all.map { "\($0.declaration.interface) \($0.declaration.name)" }
        #expect(Set(names).count == names.count)
        #expect(Set(SecretMethods.all.map { ObjectIdentifier($0) }).count == names.count)
    }

    @Test func eachMethodIsFoundByItsInterfaceAndName() throws {
        for method in SecretMethods.all {
            let found = try SecretMethods.method(of: request(method.declaration, method.declaration.signature))
            #expect(ObjectIdentifier(found) == ObjectIdentifier(method))
        }
    }

    @Test func eachMethodRefusesAnotherSignature() throws {
        let service = try ServiceUnderTest()
        let signatures = Set(SecretMethods.all.map { $0.declaration.signature })
        for method in SecretMethods.all.map({ $0.declaration }) {
            let own = method.signature
            let others = signatures.union([own + "s", own + "v", "i", "a{si}", String(own.dropLast()), "(\(own))"])
            for other in others.subtracting([own]) {
                let expected = "InvalidArgs: the arguments of \(method.name) are '\(own)', and not '\(other)'"
                let (path, interface) = (method.interface.sample.text, method.interface.rawValue)
                #expect(service.error(path, interface, method.name, other) == expected)
                #expect(throws: SecretServiceError.self) { try SecretMethods.method(of: request(method, other)) }
            }
        }
    }

    /// A method reads as many arguments as it declares, of the declared types.
    @Test func eachMethodReadsItsArguments() throws {
        for method in SecretMethods.all {
            let values = try samples(method.declaration.input)
            var arguments = SecretArguments(values)
            _ = try method.init(&arguments)
            #expect(arguments.rest.isEmpty, "\(method)")
            for index in values.indices {
                var (short, wrong) = (SecretArguments(Array(values[..<index])), values)
                #expect(throws: SecretServiceError.self, "\(method)") { _ = try method.init(&short) }
                wrong[index] = .byte(1)
                arguments = SecretArguments(wrong)
                #expect(throws: SecretServiceError.self, "\(method)") { _ = try method.init(&arguments) }
            }
        }
    }

    @Test func argumentsReachTheirNames() throws {
        func read<Method: SecretMethod>(_ values: BusValue...) throws -> Method {
            var arguments = SecretArguments(values)
            return try Method(&arguments)
        }
        func properties(_ interface: String) -> BusValue {
            let attributes = BusValue.array([.structure([.string("a"), .string("1")])])
            return .array([
                .structure([.string("\(interface).Label"), .variant(.string("L"))]),
                .structure([.string("\(interface).Attributes"), .variant(attributes)]),
            ])
        }
        let open: OpenSession = try read(.string("plain"), .variant(.bytes(Data([1]))))
        #expect(open.algorithm == "plain" && open.input == .bytes(Data([1])))
        let collection: CreateCollection = try read(
            properties(SecretInterface.collection.rawValue), .string("default"))
        #expect(collection.label == "L" && collection.alias == "default")
        let item: CreateItem = try read(
            properties(SecretInterface.item.rawValue), .transferred("x", session: "/s"), .boolean(true))
        #expect(item.label == "L" && item.replaces && item.secret.session == "/s")
        #expect(item.secret.value == Data("x".utf8) && item.secret.contentType == "text/plain")
        #expect(try CustomAttributes(item.attributes) == ["a": "1"])
        let secrets: GetSecrets = try read(.array([.string("/a"), .string("/b")]), .string("/s"))
        #expect(secrets.items == ["/a", "/b"] && secrets.session == "/s")
        let alias: SetAlias = try read(.string("name"), .string("/c"))
        #expect(alias.name == "name" && alias.collection == "/c")
        let set: SetProperty = try read(.string("i"), .string("n"), .variant(.string("v")))
        #expect(set.interface == "i" && set.name == "n" && set.value == .string("v"))
        let get: GetProperty = try read(.string("i"), .string("n"))
        #expect(get.interface == "i" && get.name == "n")
    }

    /// Every method once, with an answer of the types that it declares.
    @Test func answersHaveTheDeclaredTypes() throws {
        let service = try ServiceUnderTest()
        let session = try service.openSession()
        let item = try service.createItem(["a": "1"], "swordfish", session: session)
        let prompt = SecretPath.prompt("p1").text
        #expect(service.client.prompts.add(["/x"], "p1") == prompt)
        let root = SecretPath.service.text
        let (login, other) = (SecretPath.collection("login").text, SecretPath.collection("unnamed").text)
        let calls: [(any SecretMethod.Type, String, [BusValue])] = [
            (OpenSession.self, root, [.string("plain"), .variant(.string(""))]),
            (CreateCollection.self, root, [.array([]), .string("mine")]),
            (SearchService.self, root, [.array([.structure([.string("a"), .string("1")])])]),
            (UnlockObjects.self, root, [.array([.string(item)])]),
            (LockObjects.self, root, [.array([.string(item)])]),
            (GetSecrets.self, root, [.array([.string(item), .string("/none")]), .string(session)]),
            (ReadAlias.self, root, [.string("default")]),
            (SetAlias.self, root, [.string("main"), .string(login)]),
            (SearchCollection.self, login, [.array([])]),
            (CreateItem.self, login, [.array([]), .transferred("x", session: session), .boolean(false)]),
            (DeleteCollection.self, other, []),
            (GetSecret.self, item, [.string(session)]),
            (SetSecret.self, item, [.transferred("y", session: session)]),
            (GetProperty.self, item, [.string(""), .string("Label")]),
            (GetProperties.self, item, [.string(SecretInterface.item.rawValue)]),
            (SetProperty.self, item, [.string(""), .string("Label"), .variant(.string("Other"))]),
            (DeleteItem.self, item, []),
            (StartPrompt.self, prompt, [.string("")]), (DismissPrompt.self, prompt, []),
            (CloseSession.self, session, []),
        ]
        for (method, path, arguments) in calls {
            let declared = method.declaration
            let answer = try service.ask(
                path, declared.interface.rawValue, declared.name, declared.signature, arguments)
            #expect(answer.values.map(\.type) == declared.output.map(\.value), "\(method)")
            #expect(answer.isSecret == ["GetSecret", "GetSecrets"].contains(declared.name), "\(method)")
        }
        #expect(Set(calls.map { ObjectIdentifier($0.0) }) == Set(SecretMethods.all.map { ObjectIdentifier($0) }))
    }
}
