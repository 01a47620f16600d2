/// The classes of items a vault stores, by Apple's raw names.
package enum ItemClass: String, CaseIterable, Sendable {
    case genericPassword = "genp"
    case internetPassword = "inet"
    case certificate = "cert"
    case key = "keys"
    /// A private key and a certificate that share a public key. Never stored: identities are the join
    /// of the other two.
    case identity = "idnt"

    /// The classes that have rows of their own.
    package static let stored: [ItemClass] = [.genericPassword, .internetPassword, .certificate, .key]

    /// The number that stands for the class in stored structures; never reused.
    package var storedCode: UInt8 {
        switch self {
        case .genericPassword: 1
        case .internetPassword: 2
        case .certificate: 3
        case .key: 4
        case .identity: 5
        }
    }

    package init?(storedCode: UInt8) {
        guard let found = Self.allCases.first(where: { $0.storedCode == storedCode }) else { return nil }
        self = found
    }

    /// What `kSecAttrAccessible` is when the caller does not say.
    package var defaultProtection: ProtectionClass {
        self == .certificate ? .always : .whenUnlocked
    }
}
