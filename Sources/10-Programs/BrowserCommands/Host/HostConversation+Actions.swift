import Access
import Bytes
import CommandKit
import Crypto
import ExchangeFormats
import FoundationEssentials
import KeychainModel
import PasswordGeneration
import Presence
import ProcessVault
import Synchronization
import VaultInterface

extension HostConversation {
    /// Does what a request asks for.
    ///
    /// - Returns: The members of the answer.
    func perform(_ request: HostRequest) throws -> [String: JSONValue] {
        switch request.action {
        case .changePublicKeys, .requestAutotype: throw HostError.incorrectAction
        case .createGroup: throw HostError.cannotCreateGroup
        default: break
        }
        let session = try openSession(unlocking: request.unlocks)
        var members: [String: JSONValue] =
            switch request.action {
            case .associate: try associate(request, session)
            case .testAssociate: try testAssociation(request, session)
            case .getLogins: try logins(request, session)
            case .setLogin: try setLogin(request, session)
            case .generatePassword: try generatePassword(session)
            case .getCode: try code(request, session)
            case .lockDatabase: try lock(session)
            case .getGroups: try groups(session)
            case .getDatabaseHash, .changePublicKeys, .createGroup, .requestAutotype: [:]
            }
        members["hash"] = .string(try Self.vaultHash())
        return members
    }

    /// Returns a session of an unlocked vault, in which operations do not ask for the passcode again.
    private func openSession(unlocking: Bool) throws -> VaultSession {
        guard let session = try currentSession(prompt) else { throw HostError.databaseNotOpened }
        let status = try session.perform(ReadStatus())
        if status.isPasscodeSet, status.lockState != .unlocked {
            guard unlocking, try session.unlockIfPossible() else { throw HostError.databaseNotOpened }
        }
        watchLock(session)
        return session.withoutUnlocking
    }

    /// The hash by which the extension tells vaults apart.
    private static func vaultHash() throws -> String {
        SHA256.hash(data: Data("keychain \(try ProcessVault.defaultPath())".utf8)).hexadecimal()
    }

    // MARK: Associations

    private func associate(_ request: HostRequest, _ session: VaultSession) throws -> [String: JSONValue] {
        guard request["key"] == request.client.publicKey, let key = request["idKey"], Self.isKey(key) else {
            throw HostError.associationFailed
        }
        let associations = try Associations(session)
        let name = try associations.freeName(for: browser)
        if try session.perform(ReadStatus()).isPasscodeSet {
            guard prompt.isAvailable else { throw HostError.denied }
            _ = try session.perform(
                Authenticate(
                    .userPresence, context: UUID(),
                    options: AuthenticationOptions(prompt: "let the browser \(browser) ask for logins, as '\(name)'")))
        } else {
            let question = """
                The browser \(browser) wants to ask the keychain for logins.
                The keychain will know it as '\(name)', and ask you again for each site.
                """
            guard prompt.isAgreed(question, button: "Connect") == true else { throw HostError.denied }
        }
        try associations.store(Association(key: key, browser: browser, sites: []), as: name)
        state.withLock { $0.association = name }
        return ["id": .string(name)]
    }

    private static func isKey(_ text: String) -> Bool { Data(base64Encoded: text)?.count == 32 }

    private func testAssociation(_ request: HostRequest, _ session: VaultSession) throws -> [String: JSONValue] {
        guard let name = request["id"], let key = request["key"],
            try Associations(session).known(name, key: key) != nil
        else { throw HostError.associationFailed }
        state.withLock { $0.association = name }
        return ["id": .string(name)]
    }

    /// Returns the association that the extension has shown to know.
    private func association(_ session: VaultSession) throws -> Associations.Named {
        guard let name = state.withLock({ $0.association }), let found = try Associations(session).named(name) else {
            throw HostError.associationFailed
        }
        return found
    }

    /// A request for logins has the keys of all associations that the extension knows.
    private func association(in request: HostRequest, _ session: VaultSession) throws -> Associations.Named {
        let associations = try Associations(session)
        for pair in (request.members["keys"]?.elements ?? []).prefix(64) {
            guard let name = pair["id"]?.text, let key = pair["key"]?.text,
                let found = try associations.known(name, key: key)
            else { continue }
            state.withLock { $0.association = name }
            return found
        }
        throw HostError.associationFailed
    }

    /// Asks a person once for each site.
    private func requireConsent(
        for page: PageAddress, _ accounts: [String], _ association: Associations.Named, _ session: VaultSession
    ) throws {
        guard !association.association.sites.contains(page.text) else { return }
        guard !state.withLock({ $0.refused.contains(page.text) }) else { throw HostError.denied }
        // A line break in a name could look like words of the question.
        let names = accounts.prefix(8).map { name in
            name.isEmpty ? "a login without a name" : "'\(String(name.prefix(80).map { $0.isNewline ? " " : $0 }))'"
        }
        let question = """
            The browser '\(association.name)' wants the logins of \(page.text): \(names.joined(separator: ", ")).
            The keychain remembers that you allow it.
            """
        let isAgreed = prompt.isAgreed(question, button: "Allow")
        // Every page of the site would ask again.
        if isAgreed == false { state.withLock { _ = $0.refused.insert(page.text) } }
        guard isAgreed == true else { throw HostError.denied }
        let associations = try Associations(session)
        // It may have changed while the person was asked.
        guard var present = try associations.named(association.name) else { throw HostError.associationFailed }
        present.association.allow(page.text)
        try associations.store(present.association, as: present.name)
    }

    // MARK: Logins

    private func page(_ request: HostRequest) throws(HostError) -> PageAddress {
        guard let page = request["url"].flatMap(PageAddress.init) else { throw .noAddress }
        return page
    }

    private func logins(_ request: HostRequest, _ session: VaultSession) throws -> [String: JSONValue] {
        let association = try association(in: request, session)
        let page = try page(request)
        let logins = try BrowserLogins(session)
        let found = logins.matching(page)
        guard !found.isEmpty else { throw HostError.noLogins }
        try requireConsent(for: page, found.map(\.account), association, session)
        var entries: [JSONValue] = []
        var refusal: (any Error)?
        for login in found {
            do {
                guard let password = try logins.password(of: login, for: page) else { continue }
                var entry: [String: JSONValue] = [
                    "login": .string(login.account), "name": .string(login.name), "password": .string(password),
                    "uuid": .string(login.number), "group": .string(login.item.customAttributes["folder"] ?? ""),
                ]
                if let code = try logins.code(of: login, on: page, isAsked: false) { entry["totp"] = .string(code) }
                entries.append(.object(entry))
            } catch {
                // A person who refuses one login can give another.
                guard HostError(error) == .denied else { throw error }
                refusal = error
            }
        }
        guard !entries.isEmpty else { throw refusal ?? HostError.noLogins }
        return [
            "count": .string("\(entries.count)"), "entries": .array(entries), "id": .string(association.name),
        ]
    }

    private func setLogin(_ request: HostRequest, _ session: VaultSession) throws -> [String: JSONValue] {
        let association = try association(session)
        let page = try page(request)
        guard let password = request["password"] else { throw HostError.emptyMessage }
        let account = request["login"] ?? ""
        let logins = try BrowserLogins(session)
        if let number = request["uuid"] {
            guard let login = logins.matching(page).first(where: { $0.number == number.lowercased() }) else {
                throw HostError.noEntry
            }
            try requireConsent(for: page, [login.account], association, session)
            try logins.change(login, to: password, account: account)
        } else {
            // A new login takes nothing from the vault; another password for one that is there does.
            if let present = logins.matching(page).first(where: { $0.distance == 0 && $0.account == account }) {
                try requireConsent(for: page, [account], association, session)
                try logins.change(present, to: password, account: account)
            } else {
                try logins.store(password, account: account, of: page)
            }
        }
        return ["count": .null, "entries": .null, "error": .string("")]
    }

    private func code(_ request: HostRequest, _ session: VaultSession) throws -> [String: JSONValue] {
        let association = try association(session)
        guard let number = request["uuid"]?.lowercased() else { throw HostError.noEntry }
        let logins = try BrowserLogins(session)
        // The request does not say for which page: the browser has to be allowed the logins of one that has this login.
        for page in association.association.sites.compactMap(PageAddress.init) {
            guard let login = logins.matching(page).first(where: { $0.number == number }) else { continue }
            guard let code = try logins.code(of: login, on: page, isAsked: true) else { break }
            return ["totp": .string(code)]
        }
        throw HostError.noEntry
    }

    private func generatePassword(_ session: VaultSession) throws -> [String: JSONValue] {
        _ = try association(session)
        return ["password": .string(try PasswordRecipe.characters().password())]
    }

    private func groups(_ session: VaultSession) throws -> [String: JSONValue] {
        _ = try association(session)
        let group: JSONValue = .object([
            "name": .string("keychain"), "uuid": .string(String(repeating: "0", count: 32)), "children": .array([]),
        ])
        return ["defaultGroup": .string(""), "groups": .object(["groups": .array([group])])]
    }

    /// KeePassXC answers, too, that the database is not open.
    private func lock(_ session: VaultSession) throws -> [String: JSONValue] {
        _ = try association(session)
        _ = try session.perform(LockVault(after: .zero))
        throw HostError.databaseNotOpened
    }
}
