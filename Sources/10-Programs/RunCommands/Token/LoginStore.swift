import Broker
import CommandKit
import FoundationEssentials
import KeychainModel
import StatusCodes
import VaultInterface

/// One login in the vault. What is changed is changed from what was read, or not at all.
struct LoginStore: Sendable {
    let session: VaultSession
    let name: LoginName

    /// A login as it was read.
    struct Entry {
        var item: StoredItem
        var login: StoredLogin
    }

    func read() throws -> Entry {
        let item: StoredItem
        do {
            item = try name.search.one(in: session, includingValues: true)
        } catch {
            throw Self.failure(error, name)
        }
        return Entry(item: item, login: try Self.login(of: item, name))
    }

    /// Says what to do if there is no such login.
    static func failure(_ error: any Error, _ name: LoginName) -> Failure {
        let failure = Failure(error)
        guard failure.status == errSecItemNotFound else { return failure }
        return Failure(
            status: errSecItemNotFound,
            "there is no login \(name.forTerminal): `keychain token list` shows those that are there, and "
                + "`keychain token add` stores one")
    }

    static func login(of item: StoredItem, _ name: LoginName) throws(Failure) -> StoredLogin {
        do throws(StoredLogin.Problem) {
            return try StoredLogin(value: item.value ?? Data())
        } catch {
            let reason =
                switch error {
                case .damaged: "is no login that this program knows: store it again with `keychain token add`"
                case .version(let version): "is of version \(version): a later version of this program uses it"
                }
            throw Failure(status: errSecDecode, "the item for the login \(name.forTerminal) \(reason)")
        }
    }

    /// Puts a login in the place of the one that was read, in one step that is durable when this returns.
    ///
    /// - Returns: False if another program changed it meanwhile.
    func replace(_ entry: Entry, with login: StoredLogin) throws -> Bool {
        let item = entry.item
        var new = NewItem(
            itemClass: item.itemClass, attributes: item.attributes, accessGroup: item.accessGroup,
            accessControl: item.accessControl, isSynchronizable: item.isSynchronizable, value: try login.value())
        new.customAttributes = item.customAttributes
        return try session.perform(ExchangeItem(new, expecting: item.value))
    }
}
