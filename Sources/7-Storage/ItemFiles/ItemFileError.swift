import VaultInterface

/// Why items could not be put into a file, or taken out of one. Descriptions name no attribute and no value of an item.
package enum ItemFileError: Error, Equatable, CustomStringConvertible {
    /// The bytes are no file of items, or one that this version cannot read.
    case unreadable(reason: String)
    /// The file was changed, or ends early.
    case damaged(reason: String)
    /// The file would have, or has, more bytes than a file of items may have.
    case tooLarge(limit: Int)
    case wrongPassphrase
    /// A passphrase opens the file, and none was given.
    case passphraseNeeded
    /// A private key opens the file, and a passphrase was given.
    case keyNeeded
    /// The vault does not have the private key that opens the file.
    case keyNotFound
    /// The key does not open the file, or the file was changed.
    case undecipherable
    /// An item that no file takes to another device.
    case bound(reason: String)
    /// No key that a file can be sealed to.
    case unsuitableRecipient(reason: String)
    /// The private key could not be used.
    case keyFailed(reason: String)
    case refused(VaultError)
    case memoryUnavailable

    package var description: String {
        switch self {
        case .unreadable(let reason): "the file cannot be read: \(reason)"
        case .damaged(let reason): "the file is damaged (\(reason)); have it sent again"
        case .tooLarge(let limit):
            "a file of items has at most \(limit >> 20) MiB and \(ReceiveItems.most) items; send fewer at once"
        case .wrongPassphrase: "the passphrase of the file is wrong, or the beginning of the file was changed"
        case .passphraseNeeded: "a passphrase opens the file; give it"
        case .keyNeeded: "a private key opens the file, and no passphrase; leave the passphrase out"
        case .keyNotFound: "the file is sealed to a key that is not in this keychain; open it where that key is"
        case .undecipherable: "the file was changed, or is for another key; have it sent again"
        case .bound(let reason): reason
        case .unsuitableRecipient(let reason): reason
        case .keyFailed(let reason): reason
        case .refused(let error): error.description
        case .memoryUnavailable: "out of memory"
        }
    }
}
