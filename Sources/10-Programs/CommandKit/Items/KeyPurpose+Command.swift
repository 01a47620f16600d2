import KeychainModel
import StatusCodes
import StoredKeys

/// The items that are keys to something else. The password commands leave them alone: who deletes one loses more than
/// a password.
extension KeyPurpose {
    /// The purpose of an item; nil for an item that opens nothing else.
    package init?(_ item: StoredItem) {
        let name: AttributeName = item.itemClass == .key ? .applicationTag : .service
        guard [.genericPassword, .key].contains(item.itemClass) else { return nil }
        self.init(named: item.attribute(name))
    }

    /// - Parameter name: The service, or the application tag of a key.
    package init?(named name: AttributeValue?) {
        guard let service = name?.text else { return nil }
        self.init(service: service)
    }

    /// What the item is, after its name.
    package var description: String {
        switch self {
        case .database: "is the key of an encrypted database: without it nobody can read the database"
        case .cipherFile: "is the key of a SQLCipher file: without it nobody can read the file"
        case .sealedFields(let keyring):
            "is a key of the sealed fields of '\(keyring.escapedForTerminal)': without it nobody can read them"
        case .pepper: "is a pepper: without it no password of its program can be checked"
        case .right: "belongs to a stored right (LARightStore): without it the right is lost"
        case .login: "is a login of OAuth: without it there are no more access tokens"
        case .portalSecret: "is the key of a program in a sandbox: without it the program cannot read its data"
        }
    }

    /// The refusal to delete such an item with the other passwords.
    ///
    /// - Parameters:
    ///   - name: The item's, ready for a terminal.
    ///   - account: The account, which identifies a database.
    package func refusal(_ name: String, account: String?) -> Failure {
        let remedy: String
        switch self {
        case .database, .cipherFile:
            remedy =
                "`keychain db forget \(account?.escapedForTerminal ?? "FILE")` takes it away, and can be undone"
        case .login:
            remedy = "`keychain token remove \(account?.escapedForTerminal ?? "NAME")` removes it"
        default:
            remedy =
                "Its program removes it; `keychain delete --stored-key` or `keychain key delete --stored-key` deletes it "
                + "all the same"
        }
        return Failure(status: errSecParam, "\(name) \(description). \(remedy)")
    }

    /// The refusal to replace such an item.
    package func replacementRefusal(_ name: String) -> Failure {
        Failure(
            status: errSecDuplicateItem,
            "\(name) \(description). Choose another name for the secret")
    }
}

extension KeyPurpose {
    /// The refusal to change the attributes of such an item.
    package func changeRefusal(_ name: String) -> Failure {
        let remedy =
            switch self {
            case .database, .cipherFile: "`keychain db set-class` gives it another class"
            case .login: "`keychain token add` stores another one under its name"
            default: "its program changes it"
            }
        return Failure(status: errSecParam, "\(name) \(description): \(remedy)")
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
