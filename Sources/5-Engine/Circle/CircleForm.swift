import Bytes
import Crypto
import FoundationEssentials
import Frames
import PreparedKeys

/// What all forms of a circle have in common: labels, which keep signatures and keys of one purpose from counting for
/// another, and reading.
enum CircleForm {
    /// The version of all forms here.
    static let format: UInt8 = 1

    static func label(_ purpose: String) -> Data { Data("swift-keychain/circle/v1/\(purpose)".utf8) }

    /// Derives a key for a purpose (HKDF-SHA256, RFC 5869).
    static func key(from secret: SymmetricKey, salt: Data = Data(), _ purpose: String) -> SymmetricKey {
        secret.withUnsafeBytes {
            KeyDerivation.key(from: $0, salt: Array(salt), info: Array(label(purpose)))
        }
    }

    /// Derives a private key: the first of those that `make` takes.
    ///
    /// - Parameter salt: A byte from 0 on is added.
    static func privateKey<Key>(
        from secret: SymmetricKey, salt: Data, _ purpose: String, _ make: (SymmetricKey) -> Key?
    ) -> Key {
        var round: UInt8 = 0
        while true {
            // The chance of a number that is no private key on P-256 is 2^-32 for each round.
            if let key = make(key(from: secret, salt: salt + [round], purpose)) { return key }
            round &+= 1
        }
    }

    /// Reads all of `encoded`.
    static func read<Value>(
        _ encoded: Data, as what: String, _ body: (inout FrameReader) throws -> Value
    ) throws(CircleError) -> Value {
        var reader = FrameReader(FrameBuffer(encoded))
        do {
            let value = try body(&reader)
            try reader.finish()
            return value
        } catch let error as CircleError {
            throw error
        } catch {
            throw .malformed(what)
        }
    }

    /// Reads the eight letters and the format that each form begins with.
    static func readHead(_ magic: String, from reader: inout FrameReader, of what: String) throws {
        guard Data(try reader.take(magic.utf8.count)) == Data(magic.utf8) else { throw CircleError.malformed(what) }
        guard try reader.integer(UInt8.self) == format else { throw CircleError.unknownFormat(what) }
    }

    static func appendHead(_ magic: String, to buffer: FrameBuffer) {
        buffer.appendRaw(magic.utf8)
        buffer.append(format)
    }
}

extension FrameReader {
    /// Reads bytes with their number in two bytes in front.
    mutating func shortCounted() throws(FrameError) -> Data { Data(try take(Int(try integer(UInt16.self)))) }

    /// Reads a text with the number of its bytes in two bytes in front.
    mutating func shortText() throws(FrameError) -> String {
        guard let text = String(utf8: try take(Int(try integer(UInt16.self)))) else { throw FrameError("not UTF-8") }
        return text
    }
}

extension FrameBuffer {
    /// Appends bytes with their number in two bytes in front.
    func append(shortCounted bytes: Data) {
        append(UInt16(truncatingIfNeeded: bytes.count))
        appendRaw(bytes)
    }

    var data: Data { Data(bytes) }
}

/// Makes an ECDSA signature on P-256 of a SHA-256 digest: r and s, 32 bytes each.
package typealias CircleSigner = (_ digest: Data) throws -> Data

/// A public key that signs for a member.
struct SignatureKey {
    static let signatureSize = 64

    private let key: P256.Signing.PublicKey

    /// - Parameter compressed: 33 bytes (SEC 1, section 2.3.3).
    init(compressed: Data, of what: String) throws(CircleError) {
        guard let key = try? P256.Signing.PublicKey(compressedRepresentation: compressed) else {
            throw .malformed(what)
        }
        self.key = key
    }

    func check(_ signature: Data, of message: Data, what: String) throws(CircleError) {
        guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature),
            key.isValidSignature(signature, for: SHA256.hash(data: message))
        else { throw .forged(what) }
    }
}

extension Data {
    /// The SHA-256 digest (FIPS 180-4).
    package var sha256: Data { Data(SHA256.hash(data: self)) }
}
