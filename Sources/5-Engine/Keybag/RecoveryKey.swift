import Bytes
import Crypto
import FoundationEssentials
import KeychainModel
import SecureMemory

/// The key that a person writes down to open the vault without its enclave: 256 random bits.
package struct RecoveryKey: Sendable {
    private let bytes: LockedBytes

    package static func random() throws(KeybagError) -> RecoveryKey {
        guard let bytes = try? LockedBytes.random(count: size) else { throw .memoryUnavailable }
        return RecoveryKey(bytes: bytes)
    }

    /// The key in base 32 (RFC 4648, section 6), in groups of four letters.
    package var text: String {
        var letters = ""
        var buffer: UInt32 = 0
        var bits = 0
        var count = 0
        func append(_ letter: UInt32) {
            if count > 0, count % 4 == 0 { letters.append("-") }
            letters.append(Self.alphabet[Int(letter & 31)])
            count += 1
        }
        bytes.withUnsafeBytes { bytes in
            for byte in bytes {
                buffer = buffer << 8 | UInt32(byte)
                bits += 8
                while bits >= 5 {
                    bits -= 5
                    append(buffer >> bits)
                }
            }
        }
        // The last letter holds the remaining one of the 256 bits.
        append(buffer << (5 - bits))
        return letters
    }

    /// - Parameter text: With or without hyphens and spaces, in upper or lower case. The result is nil if it is not a
    ///   recovery key.
    package init?(_ text: UnsafeRawBufferPointer) {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(Self.size + 1)
        defer { decoded.wipe() }
        var value = 0
        var bits = 0
        for byte in text where byte != UInt8(ascii: "-") && byte != UInt8(ascii: " ") {
            let letter = byte & 0xDF
            switch byte {
            case UInt8(ascii: "2")...UInt8(ascii: "7"): value = (value << 5 | (Int(byte) - 24)) & 0xFFFF
            case _ where (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(letter):
                value = (value << 5 | (Int(letter) - 65)) & 0xFFFF
            default: return nil
            }
            bits += 5
            if bits >= 8 {
                bits -= 8
                guard decoded.count < Self.size else { return nil }
                decoded.append(UInt8(value >> bits & 0xFF))
            }
        }
        // 52 letters are 260 bits. The last four are zero.
        guard decoded.count == Self.size, bits == 4, value & 0xF == 0,
            let locked = try? decoded.withUnsafeBytes({ try LockedBytes(copying: $0) })
        else { return nil }
        bytes = locked
    }

    private init(bytes: LockedBytes) {
        self.bytes = bytes
    }

    func wrappingKey(for protection: ProtectionClass, salt: Data) -> SymmetricKey {
        derive("swift-keychain/v1/recovery/class-key/\(protection.rawValue)", salt)
    }

    func authenticationKey(salt: Data) -> SymmetricKey {
        derive("swift-keychain/v1/recovery/record", salt)
    }

    private func derive(_ context: String, _ salt: Data) -> SymmetricKey {
        defer { wipeRecentlyFreed(.derivation) }
        return bytes.withUnsafeBytes {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: SymmetricKey(data: $0), salt: salt, info: Data(context.utf8), outputByteCount: 32)
        }
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
    private static let size = 32
}
