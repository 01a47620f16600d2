import FoundationEssentials
import SwiftASN1

/// Counts the iterations of a key derivation before the work begins. The file names the count, and a count of four
/// thousand million would keep a program busy for an hour.
enum PassphraseCost {
    /// Returns the iterations in the DER of an EncryptedPrivateKeyInfo, of EncryptedData or of an algorithm.
    ///
    /// For PBKDF2 and older functions this is the largest number in the structure: the other numbers are only versions
    /// and the length of a key (RFC 8018, A.2, A.3 and C). For scrypt it is the product of its three cost parameters
    /// (RFC 7914, 2 and 7.1). One unit of that product costs a fraction of an iteration.
    static func iterations(in encoded: Data) -> Int {
        guard let root = try? DER.parse(Array(encoded)) else { return .max }
        return largest(in: root)
    }

    private static let scrypt: ASN1ObjectIdentifier = [1, 3, 6, 1, 4, 1, 11591, 4, 11]

    private static func largest(in node: ASN1Node) -> Int {
        switch node.content {
        case .constructed(let members):
            let members = Array(members)
            if members.count == 2, (try? ASN1ObjectIdentifier(derEncoded: members[0])) == scrypt {
                return product(of: members[1])
            }
            return members.map(largest(in:)).max() ?? 0
        case .primitive:
            guard node.identifier == .integer else { return 0 }
            return (try? Int(derEncoded: node)) ?? .max
        }
    }

    /// Returns the product of scrypt's N, r and p. The length of the key may follow them.
    private static func product(of parameters: ASN1Node) -> Int {
        guard case .constructed(let members) = parameters.content else { return .max }
        let numbers = members.filter { $0.identifier == .integer }.prefix(3)
        guard numbers.count == 3 else { return .max }
        return numbers.reduce(1) { product, node in
            guard let number = try? Int(derEncoded: node), number > 0 else { return .max }
            let (next, isTooLarge) = product.multipliedReportingOverflow(by: number)
            return isTooLarge ? .max : next
        }
    }
}
