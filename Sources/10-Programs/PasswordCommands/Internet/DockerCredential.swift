import Bytes
import CommandKit
import FoundationEssentials
import KeychainModel
import StatusCodes

/// A credential helper of docker, podman, skopeo and buildah
/// (https://github.com/docker/docker-credential-helpers).
///
/// A credential is an internet password. A custom attribute has the server as docker writes it, which need not be a
/// URL.
enum DockerCredential {
    private static let serverAttribute = "docker-server"
    /// Words that docker compares.
    private static let notFound = "credentials not found in native keychain"

    private struct Credential: Codable {
        var ServerURL: String
        var Username: String
        var Secret: String
    }

    /// The security domain of the items, so that they are not those of git for the same server and account. Where
    /// docker writes one address in two ways, the second one has a longer domain.
    private static let domain = "docker"

    static func run(_ arguments: [String]) throws {
        switch arguments {
        case ["get"]: try get(try server())
        case ["store"]: try store()
        case ["erase"]: try erase(try server())
        case ["list"]: try list()
        case ["version"]: try StandardOutput.write(line: "docker-credential-keychain (keychain) v1")
        default:
            throw Failure.usage(
                "docker starts this program: write \"credsStore\": \"keychain\" into ~/.docker/config.json")
        }
    }

    private static func server() throws -> String {
        guard let text = String(validating: try HelperProgram.input(), as: UTF8.self) else {
            throw Failure(status: errSecParam, "the server URL is no text")
        }
        let server = text.trimmed
        guard !server.isEmpty else { throw Failure(status: errSecParam, "no credentials server URL") }
        return server
    }

    private static func find(_ server: String, _ passwords: InternetPasswords?) throws -> StoredItem? {
        try passwords?.all(custom: [serverAttribute: server]).first { $0.securityDomain?.hasPrefix(domain) == true }
    }

    private static func get(_ server: String) throws {
        let passwords = try InternetPasswords.present()
        guard let item = try find(server, passwords), !item.isExpired(Date()), let secret = try passwords?.secret(item)
        else { throw Failure(status: errSecItemNotFound, notFound) }
        try StandardOutput.write(
            json: Credential(
                ServerURL: server, Username: InternetAddress(item).account ?? "",
                Secret: String(decoding: secret, as: UTF8.self)))
    }

    private static func store() throws {
        try OtherTool.refuseUnknownCopy()
        guard let given = try? JSONDecoder().decode(Credential.self, from: HelperProgram.input()) else {
            throw Failure(status: errSecParam, "the credentials are not JSON with ServerURL, Username and Secret")
        }
        guard !given.ServerURL.isEmpty else { throw Failure(status: errSecParam, "no credentials server URL") }
        guard !given.Username.isEmpty else { throw Failure(status: errSecParam, "no credentials username") }
        var address = InternetAddress(given.ServerURL) ?? InternetAddress(host: given.ServerURL)
        address.scheme = address.scheme ?? "https"
        address.account = given.Username
        let passwords = try InternetPasswords(.ofOwner())
        let former = try find(given.ServerURL, passwords)
        // For docker each text is a server of its own.
        let isOthers = try passwords.find(address, in: .only(domain), interaction: .skip).contains {
            !($0.customAttributes[serverAttribute] ?? "").utf8.elementsEqual(given.ServerURL.utf8)
        }
        let stored = try passwords.store(
            .wipedWhenFreed(Data(given.Secret.utf8)), at: address, label: "Docker Credentials",
            domain: isOthers ? "\(domain) \(given.ServerURL)" : domain, custom: [serverAttribute: given.ServerURL])
        // Docker knows one account of each server.
        if let former, former.identifier != stored.identifier { try passwords.delete(former) }
    }

    private static func erase(_ server: String) throws {
        let passwords = try InternetPasswords.present()
        guard let item = try find(server, passwords) else { throw Failure(status: errSecItemNotFound, notFound) }
        try passwords?.delete(item)
    }

    private static func list() throws {
        var accounts: [String: String] = [:]
        for item in try InternetPasswords.present()?.all() ?? [] where item.securityDomain?.hasPrefix(domain) == true {
            guard let server = item.customAttributes[serverAttribute], accounts[server] == nil else { continue }
            accounts[server] = InternetAddress(item).account ?? ""
        }
        try StandardOutput.write(json: accounts)
    }
}
