import Crypto
import FoundationEssentials

/// A digest as the 32-byte number that ECDSA over P-256 signs (FIPS 186-5, section 6.4.1).
///
/// Uses the leftmost 256 bits of a longer digest. Pads a shorter one with leading zeros.
package struct P256Digest: Digest {
    package static let byteCount = 32

    private let bytes: [UInt8]

    package init(_ digest: Data) {
        let used = [UInt8](digest.prefix(Self.byteCount))
        bytes = [UInt8](repeating: 0, count: Self.byteCount - used.count) + used
    }

    package func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes(body)
    }

    package func makeIterator() -> IndexingIterator<[UInt8]> { bytes.makeIterator() }

    package var description: String { "P-256 digest" }
}
