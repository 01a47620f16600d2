import Access
import Bytes
import CommandKit
import FoundationEssentials
import KeychainModel
import OneTimeCodes
import PasswordCommands
import VaultInterface

/// The logins of the vault, as a browser uses them.
struct BrowserLogins {
    /// A login that a page may get.
    struct Login {
        var item: StoredItem
        /// How far the page is from the address of the login; see ``PageAddress/distance(to:)``.
        var distance: Int

        var account: String { item.text(.account) ?? "" }
        var name: String { item.text(.label) ?? item.text(.server) ?? item.text(.service) ?? "" }
        /// As the protocol has it.
        var number: String { item.identifier.number }
    }

    private let session: VaultSession
    private let internetPasswords: [StoredItem]
    private let genericPasswords: [StoredItem]

    /// The attribute with the address of a login, and the start of those with its further addresses.
    private static let url = "url"
    /// The attribute that holds the parts of an entry together.
    private static let entry = "entry"

    /// Reads the logins without their passwords. Asks nobody.
    init(_ session: VaultSession) throws {
        self.session = session
        let group = try session.ownGroup
        let now = Date()
        func items(_ itemClass: ItemClass) throws -> [StoredItem] {
            let query = ItemQuery(itemClass: itemClass, accessGroup: group, synchronizable: .any)
            // Items that expired, or that have a password of their own, are no logins: nobody could give that password.
            return try session.described(query) { _ in }.filter {
                !$0.isExpired(now) && $0.accessControl.flags?.contains(.applicationPassword) != true
            }
        }
        // What docker and git keep for themselves is nothing for a page.
        internetPasswords = try items(.internetPassword).filter {
            $0.securityDomain == nil && $0.customAttributes["git-authtype"] == nil
        }
        genericPasswords = try items(.genericPassword)
    }

    /// Returns the logins of a page. The one that fits best comes first.
    func matching(_ page: PageAddress) -> [Login] {
        let logins = (internetPasswords + genericPasswords).compactMap { item -> Login? in
            let distances = Self.addresses(of: item).compactMap(page.distance)
            return distances.min().map { Login(item: item, distance: $0) }
        }
        return logins.sorted {
            ($0.distance, $1.item.modificationDate) < ($1.distance, $0.item.modificationDate)
        }
    }

    private static func addresses(of item: StoredItem) -> [InternetAddress] {
        var texts = [item.customAttributes[url]]
        texts += (2...17).map { item.customAttributes["\(url) \($0)"] }
        var addresses = texts.compactMap(\.self).compactMap { text in
            InternetAddress(String(text.unicodeScalars.prefix { $0 != "?" && $0 != "#" }))
        }
        if item.itemClass == .internetPassword { addresses.append(InternetAddress(item)) }
        return addresses
    }

    // MARK: Passwords

    /// Reads a password; nil if the item went meanwhile. May ask a person.
    func password(of login: Login, for page: PageAddress) throws -> String? {
        try value(of: login.item, "give \(page.text) the password of '\(login.account)'")
    }

    private func value(
        of item: StoredItem, _ prompt: String, interaction: AuthenticationOptions.Interaction = .allow
    ) throws -> String? {
        var query = ItemQuery(item: item)
        query.authentication = AuthenticationOptions(interaction: interaction, prompt: prompt)
        do {
            return try session.perform(CopyItems(query, includingValues: true)).first?.value
                .flatMap { String(validating: $0, as: UTF8.self) }
        } catch {
            switch error {
            case .itemNotFound, .itemExpired: return nil
            default: throw error
            }
        }
    }

    /// Stores a new login, or a new password for one that is there.
    func store(_ password: String, account: String, of page: PageAddress) throws {
        try InternetPasswords(session).store(
            .wipedWhenFreed(Data(password.utf8)), at: page.internetAddress(account: account))
    }

    /// Gives a login another password, and another account if there is one.
    func change(_ login: Login, to password: String, account: String) throws {
        var changes = ItemChanges(value: .wipedWhenFreed(Data(password.utf8)))
        if !account.isEmpty, account != login.account { changes.attributes[.account] = .string(account) }
        _ = try session.perform(UpdateItems(ItemQuery(item: login.item), with: changes))
    }

    // MARK: One-time codes

    /// Returns the one-time code of a login; nil if it has none.
    ///
    /// - Parameter isAsked: Whether the extension asks for this code. Otherwise nobody is asked, and no counter counts.
    func code(of login: Login, on page: PageAddress, isAsked: Bool) throws -> String? {
        guard let item = source(of: login, page),
            let text = try value(
                of: item, "give \(page.text) the one-time code of '\(login.account)'",
                interaction: isAsked ? .allow : .skip),
            var password = try? OneTimePassword(text)
        else { return nil }
        let code = password.code(at: Date())
        if case .counter(let counter) = password.factor {
            guard isAsked, counter < .max else { return nil }
            password.factor = .counter(counter + 1)
            var new = NewItem(
                itemClass: item.itemClass, attributes: item.attributes, accessGroup: item.accessGroup,
                accessControl: item.accessControl, isSynchronizable: item.isSynchronizable,
                value: .wipedWhenFreed(Data(password.uri.utf8)))
            new.customAttributes = item.customAttributes
            // Another program that was faster has this code.
            guard try session.perform(ExchangeItem(new, expecting: Data(text.utf8))) else { return nil }
        }
        return code
    }

    /// Finds what the codes of a login are made from: the one of the same entry, else the one of its host.
    private func source(of login: Login, _ page: PageAddress) -> StoredItem? {
        let sources = genericPasswords.filter {
            $0.text(.service)?.hasPrefix(EntryService.codePrefix) == true
        }
        if let entry = login.item.customAttributes[Self.entry],
            let source = sources.first(where: { $0.customAttributes[Self.entry] == entry })
        {
            return source
        }
        let hosts = [login.item.text(.server).map(HostName.ascii), page.host].compactMap(\.self)
        for host in hosts {
            let found = sources.filter {
                $0.text(.service)?.dropFirst(EntryService.codePrefix.count).lowercased() == host
                    && $0.customAttributes[Self.entry] == nil
            }
            if let own = found.first(where: { $0.text(.account) == login.item.text(.account) }) { return own }
            if found.count == 1, found[0].text(.account) == nil { return found[0] }
        }
        return nil
    }
}

extension StoredItem {
    /// The attribute as text; nil if it is empty.
    func text(_ name: AttributeName) -> String? {
        let text: String? =
            switch attribute(name) {
            case .string(let text): text
            case .data(let bytes): String(validating: bytes, as: UTF8.self)
            default: nil
            }
        return text?.isEmpty == false ? text : nil
    }
}

extension UUID {
    /// In the protocol's form: 32 hexadecimal digits.
    var number: String { uuidString.replacing("-", with: "").lowercased() }
}
