import Access
import Bytes
import Crypto
import FoundationEssentials

/// The keys that tag records after an anchor: one for each record, made from the one before.
///
/// A key does not reveal the key before it. A program that gets the present key can tag later records, but no record
/// that is already written.
struct AuditChain: Sendable {
    /// Which anchor the first key is from.
    let anchor: AuditAnchor.Identifier
    /// The number of the record that ``key`` tags.
    private(set) var number: UInt64
    private(set) var key: SymmetricKey
    /// What wraps the keys in the head, once that was asked for.
    private var headKey: SymmetricKey?

    /// The size of a key in bytes.
    static let keySize = 32

    init(anchor: AuditAnchor.Identifier, number: UInt64, key: SymmetricKey) {
        self.anchor = anchor
        self.number = number
        self.key = key
    }

    func tag(of link: AuditLink) -> Data { code(Data("record".utf8) + link.bytes) }

    /// Replaces the key by that of the next record. The former key is wiped when its last reference ends.
    mutating func advance() {
        key = SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Data("next".utf8), using: key))
        number += 1
    }

    /// Moves on to the key of the record with this number.
    ///
    /// - Returns: False if that is an earlier one, or one that no log reaches from here.
    mutating func advance(to number: UInt64) -> Bool {
        guard number >= self.number, number - self.number <= Self.mostSteps else { return false }
        while self.number < number { advance() }
        return true
    }

    /// More records than a log has between two unlockings: they would fill about 30 GB.
    private static let mostSteps: UInt64 = 1 << 26

    private func code(_ message: Data) -> Data {
        Data(HMAC<SHA256>.authenticationCode(for: message, using: key))
    }

    // MARK: In the head

    /// A key as the head has it.
    struct Sealed: Equatable, Sendable {
        let anchor: AuditAnchor.Identifier
        /// AES key wrap (RFC 3394): it needs no nonce, so that any number of records can follow an anchor.
        let key: Data

        static let size = keySize + 8
    }

    mutating func sealed(under seal: any AuditSeal) -> Sealed? {
        let headKey = self.headKey ?? Self.headKey(of: anchor, under: seal)
        self.headKey = headKey
        guard let wrapped = try? AES.KeyWrap.wrap(key, using: headKey) else { return nil }
        return Sealed(anchor: anchor, key: wrapped)
    }

    /// - Parameter number: The number of the record that the key tags.
    init?(_ sealed: Sealed, number: UInt64, under seal: any AuditSeal) {
        let headKey = Self.headKey(of: sealed.anchor, under: seal)
        guard let key = try? AES.KeyWrap.unwrap(sealed.key, using: headKey), key.bitCount == 8 * Self.keySize
        else { return nil }
        self.init(anchor: sealed.anchor, number: number, key: key)
        self.headKey = headKey
    }

    private static func headKey(of anchor: AuditAnchor.Identifier, under seal: any AuditSeal) -> SymmetricKey {
        SymmetricKey(data: seal.tag(of: Data("swift-keychain/v2/audit/head".utf8) + anchor.bytes))
    }
}

/// What tags the records of a log.
enum AuditTagging: Sendable {
    /// The audit key, which follows from the device's key alone.
    case device(any AuditSeal)
    case chain(AuditChain)

    /// Returns the tag of the next record, and moves on to the one after it.
    mutating func tagNext(_ link: AuditLink) -> Data {
        switch self {
        case .device(let seal): return link.tag(under: seal)
        case .chain(var chain):
            let tag = chain.tag(of: link)
            chain.advance()
            self = .chain(chain)
            return tag
        }
    }

    var chain: AuditChain? {
        guard case .chain(let chain) = self else { return nil }
        return chain
    }
}
