import Bytes
import ExchangeFormats
import FoundationEssentials
import Synchronization

/// What the extension and the host agreed on: the keys, and the nonces that were used with them.
final class HostClient: Sendable {
    let identifier: String
    /// The extension's public key, in Base64.
    let publicKey: String
    let keys: BoxKeys
    private let used = Mutex<Set<BoxNonce>>([])

    /// The most requests under the same keys. The extension makes new ones whenever it connects.
    private static let mostRequests = 1 << 17

    init(_ identifier: String, publicKey: String, _ keys: BoxKeys) {
        (self.identifier, self.publicKey, self.keys) = (identifier, publicKey, keys)
    }

    /// Returns whether this is the first use of the nonce and of that of its answer.
    func use(_ nonce: BoxNonce) -> Bool {
        used.withLock { used in
            let isNew = !used.contains(nonce) && !used.contains(nonce.next)
            guard isNew, used.count < 2 * Self.mostRequests else { return false }
            used.insert(nonce)
            used.insert(nonce.next)
            return true
        }
    }
}

/// A request of the extension, decrypted.
struct HostRequest: Sendable {
    enum Action: String {
        case changePublicKeys = "change-public-keys"
        case getDatabaseHash = "get-databasehash"
        case associate
        case testAssociate = "test-associate"
        case getLogins = "get-logins"
        case setLogin = "set-login"
        case generatePassword = "generate-password"
        case getCode = "get-totp"
        case lockDatabase = "lock-database"
        case getGroups = "get-database-groups"
        case createGroup = "create-new-group"
        case requestAutotype = "request-autotype"

        /// Whether a person may be asked, or whether it can take long. Others are answered while a person is asked.
        var mayWait: Bool {
            switch self {
            case .changePublicKeys, .getDatabaseHash, .testAssociate, .getGroups, .createGroup, .requestAutotype: false
            case .associate, .getLogins, .setLogin, .generatePassword, .getCode, .lockDatabase: true
            }
        }
    }

    let action: Action
    let members: JSONValue
    let nonce: BoxNonce
    let client: HostClient
    let number: String?
    /// Whether the keychain asks for the passcode if it is locked.
    let unlocks: Bool

    subscript(name: String) -> String? { members[name]?.text }
}

extension JSONValue {
    /// Whether this is true, which some versions of the extension write as a text.
    var isTrue: Bool { self == .bool(true) || self == .string("true") }
}
