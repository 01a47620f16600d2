import CommandKit
import FoundationEssentials
import KeychainModel
import ProcessVault
import StatusCodes
import VaultInterface

/// What ssh and git start instead of asking at a terminal (`SSH_ASKPASS` of ssh(1), `GIT_ASKPASS` of
/// gitcredentials(7)).
///
/// The operand is the question, and names what is asked for. The answer goes to standard output.
enum Askpass {
    /// The service under which Apple's ssh keeps the passphrase of a key; the account is the path of the key's file.
    static let keyService = "OpenSSH"

    static func run(_ arguments: [String]) throws {
        guard let text = arguments.first, arguments.count == 1 else {
            throw Failure.usage("ssh and git start this program: set SSH_ASKPASS or GIT_ASKPASS to its path")
        }
        // ssh also asks whether it may go on. That is for a person.
        guard let question = AskpassQuestion(text) else {
            throw Failure(
                status: errSecInteractionNotAllowed,
                "cannot answer '\(text.escapedForTerminal)': answer it at a terminal, without SSH_ASKPASS_REQUIRE=force"
            )
        }
        switch question {
        case .account(let address):
            guard let account = try find(address).flatMap({ InternetAddress($0.item).account }) else {
                throw absent("user name", address)
            }
            try StandardOutput.write(line: account)
        case .password(let address):
            guard let (item, passwords) = try find(address) else { throw absent("password", address) }
            if let end = item.expiry.date, item.isExpired(Date()) { throw VaultError.itemExpired(end) }
            guard let secret = try passwords.secret(item) else { throw absent("password", address) }
            try answer(secret)
        case .passphrase(let file): try answer(passphrase(ofFile: file))
        }
    }

    /// Finds the newest password of an address that git or ssh can use: not what docker or git itself keep besides.
    private static func find(_ address: InternetAddress) throws -> (item: StoredItem, passwords: InternetPasswords)? {
        guard let passwords = try InternetPasswords.present() else { return nil }
        let found = try passwords.find(address, in: .only(nil))
        return found.first { $0.customAttributes[GitCredential.typeAttribute] == nil }.map { ($0, passwords) }
    }

    private static func passphrase(ofFile file: String) throws -> Data {
        let absent = Failure(
            status: errSecItemNotFound,
            "there is no passphrase of the key file '\(file.escapedForTerminal)': store it with "
                + "`keychain set \(keyService) \((AskpassQuestion.paths(of: file).first ?? file).escapedForTerminal)`")
        guard try ProcessVault.exists() else { throw absent }
        let session = try VaultSession.ofOwner()
        var problem: (any Error)?
        for path in AskpassQuestion.paths(of: file) {
            do {
                return try PasswordSearch(service: keyService, account: path)
                    .one(in: session, includingValues: true).value ?? Data()
            } catch VaultError.itemNotFound {
                continue
            } catch {
                // Another program's item, of which the error tells.
                guard Failure(error).status == errSecItemNotFound else { throw error }
                problem = problem ?? error
            }
        }
        throw problem ?? absent
    }

    /// Writes a secret and a newline, without a copy of the secret.
    private static func answer(_ secret: Data) throws(Failure) {
        try StandardOutput.write(secret)
        try StandardOutput.write(Data([0x0A]))
    }

    private static func absent(_ what: String, _ address: InternetAddress) -> Failure {
        let url = address.urlWithAccount.escapedForTerminal
        return Failure(
            status: errSecItemNotFound,
            "there is no \(what) for \(url): store the password with `keychain internet set \(url)`")
    }
}
