import Certificates
import Foundation
import KeychainModel

/// A cryptographic key. Two objects are equal when they are the same half of the same key.
///
/// Neither the description nor reflection shows secret bytes.
public final class SecKey: NSObject, Sendable {
    package let keyData: KeyData

    package init(_ keyData: KeyData) {
        self.keyData = keyData
        super.init()
    }

    /// The key with this external representation; nil if it is none of the given type and class, which
    /// are numbers as in `kSecAttrKeyType` and `kSecAttrKeyClass`.
    package convenience init?(bytes: Data, type: Int, keyClass: Int) {
        guard let type = KeyData.KeyType(rawValue: type), let keyClass = KeyData.KeyClass(rawValue: keyClass),
            let keyData = try? KeyData(bytes, type: type, keyClass: keyClass)
        else { return nil }
        self.init(keyData)
    }

    public override func isEqual(_ object: Any?) -> Bool {
        (object as? SecKey)?.keyData == keyData
    }

    public override var hash: Int { keyData.hashValue }

    public override var description: String { "<SecKey \(keyData)>" }
}
