import Access
import Foundation
import KeychainModel
import SystemBus
import TestSupport
import Vault
import VaultInterface

@testable import SecretService

/// The service for one program, over a vault in memory.
final class ServiceUnderTest {
    let client: SecretClient
    private let vault: EmbeddedVault

    init() throws {
        let vault = try memoryVault()
        self.vault = vault
        client = SecretClient(
            SecretAccess(
                session: { () throws(VaultError) in VaultSession(vault: vault, client: .app) }, name: "program"),
            SecretHub(), Mailbox())
    }

    /// Answers a call as the connections do.
    func ask(
        _ path: String, _ interface: String, _ member: String, _ signature: String = "", _ arguments: [BusValue] = []
    ) throws -> SecretAnswer {
        let request = BusRequest(
            path: path, interface: interface, member: member, sender: "", signature: signature)
        try request.check()
        return try client.answer(SecretCall(request: request, arguments: arguments))
    }

    /// The same for a method of an object's own interface.
    func ask(
        _ path: SecretPath, _ member: String, _ signature: String = "", _ arguments: [BusValue] = []
    ) throws -> [BusArgument] {
        try ask(path.text, path.interface.rawValue, member, signature, arguments).values
    }

    /// Returns the name and the text of the error that a call ends with, without the part of the name that all have.
    func error(
        _ path: String, _ interface: String, _ member: String, _ signature: String = "", _ arguments: [BusValue] = []
    ) -> String {
        do {
            return "no error: \(try ask(path, interface, member, signature, arguments).values)"
        } catch {
            let error = SecretServiceError(error)
            return "\(error.name.split(separator: ".").last ?? ""): \(error.message)"
        }
    }

    func openSession() throws -> String {
        let answer = try ask(.service, "OpenSession", "sv", [.string("plain"), .variant(.string(""))])
        guard case .path(let path)? = answer.last else { throw SecretServiceError.malformed }
        return path
    }

    /// - Returns: The item's path.
    func createItem(_ attributes: [String: String], _ secret: String, session: String) throws -> String {
        let properties: [BusValue] = [
            .structure([
                .string("org.freedesktop.Secret.Item.Attributes"),
                .variant(.array(attributes.map { .structure([.string($0.key), .string($0.value)]) })),
            ]),
            .structure([.string("org.freedesktop.Secret.Item.Label"), .variant(.string("Mine"))]),
        ]
        let answer = try ask(
            .collection("login"), "CreateItem", "a{sv}(oayays)b",
            [.array(properties), .transferred(secret, session: session), .boolean(true)])
        guard case .path(let path)? = answer.first else { throw SecretServiceError.malformed }
        return path
    }
}

extension BusValue {
    static func transferred(_ secret: String, session: String) -> BusValue {
        .structure([.string(session), .bytes(Data()), .bytes(Data(secret.utf8)), .string("text/plain")])
    }
}

extension SecretInterface {
    static let all: [SecretInterface] = [.service, .collection, .item, .session, .prompt, .properties]

    /// An object that has the interface.
    var sample: SecretPath {
        switch self {
        case .service, .properties: .service
        case .collection: .collection("login")
        case .item: .item(collection: "login", id: "a")
        case .session: .session("s1")
        case .prompt: .prompt("p1")
        }
    }
}
