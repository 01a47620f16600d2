import KeychainModel
import StatusCodes
import StoredKeys

/// The items that are keys to something else. The password commands leave them alone: who deletes one loses more than
/// a password.
extension KeyPurpose {
    /// The purpose of an item; nil for an item that opens nothing else.
    init?(_ item: StoredItem) {
        let name: AttributeName = item.itemClass == .key ? .applicationTag : .service
        guard [.genericPassword, .key].contains(item.itemClass) else { return nil }
        self.init(named: item.attribute(name))
    }

    /// - Parameter name: The service, or the application tag of a key.
    init?(named name: AttributeValue?) {
        guard let service = name?.text else { return nil }
        self.init(service: service)
    }

    /// What the item is, after its name.
    var description: String {
        switch self {
        case .database: "is the key of an encrypted database"
        case .cipherFile: "is the key of a SQLCipher file"
        case .sealedFields(let keyring): "is a key of the sealed fields of '\(keyring.escapedForTerminal)'"
        case .pepper: "is the pepper without which no password of its program is right"
        case .right: "belongs to a right that a program keeps (LARightStore)"
        case .portalSecret: "is the key to what a program in a sandbox keeps"
        }
    }

    /// The refusal to delete such an item with the other passwords.
    ///
    /// - Parameters:
    ///   - name: The item's, ready for a terminal.
    ///   - account: The account, which identifies a database.
    func refusal(_ name: String, account: String?) -> Failure {
        let remedy: String
        switch self {
        case .database, .cipherFile:
            remedy =
                "`keychain db forget \(account?.escapedForTerminal ?? "FILE")` takes it away, and says what that costs"
        default: remedy = "its program removes it; say --stored-key to delete it all the same"
        }
        return Failure(
            status: errSecParam, "\(name) \(description), which nobody can read without it: \(remedy)")
    }

    /// The refusal to replace such an item.
    func replacementRefusal(_ name: String) -> Failure {
        Failure(
            status: errSecDuplicateItem,
            "\(name) \(description), which nobody can read with another one: choose another name for the secret")
    }
}

extension AttributeValue {
    /// The text of the value, if it is text.
    fileprivate var text: String? {
        switch self {
        case .string(let string): string
        case .data(let bytes): String(validating: bytes, as: UTF8.self)
        default: nil
        }
    }
}
