import Access
import Crypto
import FoundationEssentials

/// The key of a keybag's audit log.
struct AuditKey: AuditSeal {
    let identifier: UUID
    private let key: SymmetricKey

    init(_ key: SymmetricKey, of keybag: UUID) {
        identifier = keybag
        self.key = key
    }

    func tag(of message: Data) -> Data {
        Data(HMAC<SHA256>.authenticationCode(for: message, using: key))
    }
}
