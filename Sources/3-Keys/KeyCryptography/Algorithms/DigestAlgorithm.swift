import Bytes
import Crypto
import FoundationEssentials

/// The hash functions that key algorithms use (FIPS 180-4).
package enum DigestAlgorithm: String, CaseIterable, Sendable {
    case sha1 = "SHA1"
    case sha224 = "SHA224"
    case sha256 = "SHA256"
    case sha384 = "SHA384"
    case sha512 = "SHA512"

    /// The length of a digest in bytes.
    package var byteCount: Int {
        switch self {
        case .sha1: 20
        case .sha224: 28
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }

    /// Hashes `message` and writes the digest to the first ``byteCount`` bytes of `digest`.
    ///
    /// - Throws: ``KeyError/libraryMissing(_:)`` for SHA-224 without libcrypto, because swift-crypto does not have it.
    func hash(_ message: UnsafeRawBufferPointer, into digest: UnsafeMutableRawBufferPointer) throws(KeyError) {
        switch self {
        case .sha1: Self.hash(message, with: Insecure.SHA1.self, into: digest)
        case .sha224: try Libcrypto.shared().hash(message, with: self, into: digest)
        case .sha256: Self.hash(message, with: SHA256.self, into: digest)
        case .sha384: Self.hash(message, with: SHA384.self, into: digest)
        case .sha512: Self.hash(message, with: SHA512.self, into: digest)
        }
    }

    private static func hash<Function: HashFunction>(
        _ message: UnsafeRawBufferPointer, with function: Function.Type, into digest: UnsafeMutableRawBufferPointer
    ) {
        var hash = Function()
        hash.update(bufferPointer: message)
        hash.finalize().withUnsafeBytes { digest.copyMemory(from: $0) }
    }

    /// Returns the digest of `message`.
    package func hash(_ message: Data) throws(KeyError) -> Data {
        var digest = Data(count: byteCount)
        try digest.withMutableBytes { bytes throws(KeyError) in
            try message.withBytes { message throws(KeyError) in
                try hash(message, into: bytes)
            }
        }
        return digest
    }
}

/// A digest of any length that the caller computed, for the functions of swift-crypto.
struct GivenDigest: Digest {
    /// Not used: swift-crypto takes the length of the bytes.
    static var byteCount: Int { 0 }

    let bytes: Data

    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes(body)
    }

    func makeIterator() -> Data.Iterator { bytes.makeIterator() }

    var description: String { "digest of \(bytes.count) bytes" }
}
