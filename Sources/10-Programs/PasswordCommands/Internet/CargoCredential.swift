import Bytes
import CLibrary
import CommandKit
import FoundationEssentials
import KeychainModel
import ProcessVault
import StatusCodes
import VaultInterface

/// A credential provider of cargo, version 1 of its protocol
/// (https://doc.rust-lang.org/cargo/reference/credential-provider-protocol.html).
///
/// A token is a generic password, under the name that cargo's own provider for macOS gives it.
enum CargoCredential {
    private struct Request: Decodable {
        struct Registry: Decodable {
            var indexURL: String
            var name: String?

            enum CodingKeys: String, CodingKey {
                case indexURL = "index-url"
                case name
            }
        }

        var v: Int
        var kind: String
        var registry: Registry
        var token: String?
    }

    private struct Success: Encodable {
        var kind: String
        var token: String?
        var cache: String?
        var operationIndependent: Bool?

        enum CodingKeys: String, CodingKey {
            case kind, token, cache
            case operationIndependent = "operation_independent"
        }
    }

    private struct Problem: Encodable {
        var kind: String
        var message: String?
        var causedBy: [String]?

        enum CodingKeys: String, CodingKey {
            case kind, message
            case causedBy = "caused-by"
        }
    }

    private struct Answer: Encodable {
        var Ok: Success?
        var Err: Problem?
    }

    static func run(_ arguments: [String]) throws {
        guard arguments.first == "--cargo-plugin" else {
            throw Failure.usage(
                "cargo starts this program: write global-credential-providers = [\"cargo-credential-keychain\"] under "
                    + "[registry] into ~/.cargo/config.toml")
        }
        try StandardOutput.write(line: #"{"v":[1]}"#)
        while let line = readLine() {
            try StandardOutput.write(json: answer(to: Data(line.utf8)))
        }
    }

    private static func answer(to line: Data) -> Answer {
        guard let request = try? JSONDecoder().decode(Request.self, from: line), request.v == 1 else {
            return Answer(Err: Problem(kind: "other", message: "the request is not of version 1", causedBy: []))
        }
        do {
            switch request.kind {
            case "get":
                guard let token = try token(request.registry) else { return Answer(Err: Problem(kind: "not-found")) }
                return Answer(
                    Ok: Success(kind: "get", token: token, cache: "session", operationIndependent: true))
            case "login": try login(request)
            case "logout":
                guard try logout(request.registry) else { return Answer(Err: Problem(kind: "not-found")) }
            default: return Answer(Err: Problem(kind: "operation-not-supported"))
            }
            return Answer(Ok: Success(kind: request.kind))
        } catch {
            return Answer(Err: Problem(kind: "other", message: Failure(error).message, causedBy: []))
        }
    }

    private static func search(_ registry: Request.Registry) -> PasswordSearch {
        PasswordSearch(service: "cargo-registry:\(registry.indexURL)", account: "")
    }

    private static func token(_ registry: Request.Registry) throws -> String? {
        guard try ProcessVault.exists() else { return nil }
        do {
            let item = try search(registry).one(in: .ofOwner(), includingValues: true)
            return item.value.map { String(decoding: $0, as: UTF8.self) }
        } catch VaultError.itemNotFound {
            try OtherTool.refuseUnknownCopy(nil, "nothing was found")
            return nil
        }
    }

    private static func login(_ request: Request) throws {
        let token: Data
        if let given = request.token {
            token = Data(given.utf8)
        } else {
            // Standard input and output are cargo's.
            guard let terminal = CommandTerminal() else {
                throw Failure(status: errSecInteractionNotAllowed, "there is no terminal to ask for the token at")
            }
            let name = request.registry.name ?? request.registry.indexURL
            token = try terminal.askSecrets(["Token for \(name.escapedForTerminal): "]).first ?? Data()
        }
        guard !token.isEmpty else { throw Failure(status: errSecParam, "the token is empty") }
        let search = search(request.registry)
        let item = NewItem(
            itemClass: .genericPassword,
            attributes: search.query.attributes.merging(
                [.label: .string("cargo token of \(request.registry.name ?? request.registry.indexURL)")]
            ) { first, _ in first },
            accessGroup: try OtherTool.groupForNewItem, value: .wipedWhenFreed(token))
        _ = try VaultSession.ofOwner().perform(PutItem(item))
    }

    /// - Returns: Whether there was a token.
    private static func logout(_ registry: Request.Registry) throws -> Bool {
        guard try ProcessVault.exists() else { return false }
        let session = try VaultSession.ofOwner()
        guard let item = try search(registry).oneIfAny(in: session) else {
            try OtherTool.refuseUnknownCopy(nil, "nothing was removed")
            return false
        }
        _ = try session.perform(DeleteItems(ItemQuery(item: item)))
        return true
    }
}
