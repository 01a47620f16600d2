import Foundation
import SwiftASN1

/// How often a structure's passphrase is stretched, read before the work is begun: the count comes with the file, and
/// one of four thousand million would keep a program busy for an hour.
enum PassphraseCost {
    /// The largest number in the DER encoding of an EncryptedPrivateKeyInfo or of EncryptedData. Besides the count
    /// (RFC 8018, A.2, A.3 and C) there are only versions and the length of a key.
    static func iterations(in encoded: Data) -> Int {
        guard let root = try? DER.parse(Array(encoded)) else { return .max }
        return largest(in: root)
    }

    private static func largest(in node: ASN1Node) -> Int {
        switch node.content {
        case .constructed(let members):
            return members.map(largest(in:)).max() ?? 0
        case .primitive:
            guard node.identifier == .integer else { return 0 }
            return (try? Int(derEncoded: node)) ?? .max
        }
    }
}
