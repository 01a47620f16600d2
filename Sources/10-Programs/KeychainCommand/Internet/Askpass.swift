import FoundationEssentials
import KeychainModel
import StatusCodes
import VaultInterface

/// What ssh and git start instead of asking at a terminal (`SSH_ASKPASS` of ssh(1), `GIT_ASKPASS` of
/// gitcredentials(7)).
///
/// The operand is the question, and names what is asked for. The answer goes to standard output.
enum Askpass {
    /// The service under which Apple's ssh keeps the passphrase of a key; the account is the path of the key's file.
    static let keyService = "OpenSSH"

    private enum Question {
        case account(InternetAddress)
        case password(InternetAddress)
        case passphrase(file: String)
    }

    static func run(_ arguments: [String]) throws {
        guard let text = arguments.first, arguments.count == 1 else {
            throw Failure.usage("ssh and git start this program: set SSH_ASKPASS or GIT_ASKPASS to its path")
        }
        // ssh also asks whether it may go on. That is for a person.
        guard let question = question(text) else {
            throw Failure(
                status: errSecInteractionNotAllowed,
                "cannot answer '\(text.escapedForTerminal)': answer it at a terminal, without SSH_ASKPASS_REQUIRE=force"
            )
        }
        switch question {
        case .account(let address):
            guard let item = try InternetPasswords.present()?.find(address).first,
                let account = InternetAddress(item).account
            else { throw absent(address) }
            try StandardOutput.write(line: account)
        case .password(let address):
            guard let passwords = try InternetPasswords.present(), let item = try passwords.find(address).first,
                let secret = try passwords.secret(item)
            else { throw absent(address) }
            try answer(secret)
        case .passphrase(let file):
            let search = PasswordSearch(service: keyService, account: file)
            let item = try search.one(in: .ofOwnerInPresentVault(), includingValues: true)
            try answer(item.value ?? Data())
        }
    }

    /// Writes a secret and a newline, without a copy of the secret.
    private static func answer(_ secret: Data) throws(Failure) {
        try StandardOutput.write(secret)
        try StandardOutput.write(Data([0x0A]))
    }

    private static func absent(_ address: InternetAddress) -> Failure {
        let user = address.account.map { "\($0)@" } ?? ""
        let url = (address.scheme.map { "\($0)://" } ?? "") + user + address.host
        return Failure(
            status: errSecItemNotFound,
            "there is no such password: store it with `keychain internet set \(url.escapedForTerminal)`")
    }

    private static func question(_ text: String) -> Question? {
        if let address = text.between("Username for '", "': ").flatMap({ InternetAddress($0) }) {
            return .account(address)
        }
        if let address = text.between("Password for '", "': ").flatMap({ InternetAddress($0) }) {
            return .password(address)
        }
        let file =
            text.between("Enter passphrase for key '", "': ") ?? text.between("Enter passphrase for ", ": ")
        if let file {
            // ssh-add says that it will ask before each use.
            return .passphrase(file: String(file.between("", " (will confirm each use)") ?? file))
        }
        let login = text.between("", "'s password: ") ?? text.between("(", ") Password: ")
        guard let at = login?.lastIndex(of: "@"), let login else { return nil }
        return .password(
            InternetAddress(
                scheme: "ssh", host: String(login[login.index(after: at)...]), account: String(login[..<at])))
    }
}

extension String {
    /// The text between a start and an end; nil without one of them.
    fileprivate func between(_ start: String, _ end: String) -> String? {
        guard hasPrefix(start), hasSuffix(end), count >= start.count + end.count else { return nil }
        return String(dropFirst(start.count).dropLast(end.count))
    }
}
