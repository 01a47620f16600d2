import Bytes
import Crypto
import FoundationEssentials
import KeychainModel
import SecureMemory

/// The key that opens class keys without their enclave: 256 random bits that a person writes down, or what Argon2id
/// made from the password of a backup.
package struct RecoveryKey: Sendable {
    private let bytes: LockedBytes

    package static func random() throws(KeybagError) -> RecoveryKey {
        guard let bytes = try? LockedBytes.random(count: size) else { throw .memoryUnavailable }
        return RecoveryKey(bytes: bytes)
    }

    /// The key in base 32 (RFC 4648, section 6), in groups of four letters and a check letter.
    package var text: String {
        var groups: [String] = []
        var group: [UInt8] = []
        var buffer: UInt32 = 0
        var bits = 0
        func append(_ value: UInt32) {
            group.append(UInt8(truncatingIfNeeded: value & 31))
            guard group.count == Self.groupSize else { return }
            group.append(Self.check(of: group[...], at: groups.count))
            groups.append(String(group.map { Self.alphabet[Int($0)] }))
            group.wipe()
            group.removeAll()
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
        return groups.joined(separator: "-")
    }

    /// - Parameter text: With or without hyphens and spaces, in upper or lower case. Keys without check letters are
    ///   read as well: 52 letters in groups of four.
    package init(typed text: UnsafeRawBufferPointer) throws(RecoveryKeyMistake) {
        var letters: [UInt8] = []
        letters.reserveCapacity(text.count)
        defer { letters.wipe() }
        // 52 letters without check letters, 65 with them; a mistake may add or leave out some.
        let hasChecks = text.count(where: { !Self.isSeparator($0) }) > Self.letterCount + 6
        let size = Self.groupSize + (hasChecks ? 1 : 0)
        var start = 0
        for byte in text {
            if Self.isSeparator(byte) {
                // A group that is too short or too long is named, as far as the person wrote groups.
                guard (letters.count - start).isMultiple(of: size) else { throw .group(start / size + 1) }
                start = letters.count
                continue
            }
            guard let value = Self.value(of: byte) else { throw .group(letters.count / size + 1) }
            letters.append(value)
        }
        guard letters.count == Self.letterCount / Self.groupSize * size else { throw .length(letters.count) }
        try self.init(letters, groupSize: size)
    }

    /// - Parameter size: With the check letter, if there is one.
    private init(_ letters: [UInt8], groupSize size: Int) throws(RecoveryKeyMistake) {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(Self.size + 1)
        defer { decoded.wipe() }
        var value = 0
        var bits = 0
        for start in stride(from: 0, to: letters.count, by: size) {
            let group = letters[start..<start + Self.groupSize]
            let index = start / size
            guard size == Self.groupSize || letters[start + Self.groupSize] == Self.check(of: group, at: index) else {
                throw .group(index + 1)
            }
            for letter in group {
                value = (value << 5 | Int(letter)) & 0xFFFF
                bits += 5
                guard bits >= 8 else { continue }
                bits -= 8
                decoded.append(UInt8(truncatingIfNeeded: value >> bits & 0xFF))
            }
        }
        // 52 letters are 260 bits. The last four are zero.
        guard value & 0xF == 0, let locked = try? decoded.withUnsafeBytes({ try LockedBytes(copying: $0) }) else {
            throw .group(letters.count / size)
        }
        bytes = locked
    }

    private static func isSeparator(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "-") || byte == UInt8(ascii: " ") }

    private static func value(of byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "2")...UInt8(ascii: "7"): byte - 24
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - 97
        default: nil
        }
    }

    /// The check letter of a group: the value of a polynomial over the field of 32 elements (x⁵ + x² + 1) at x.
    ///
    /// The coefficients are the group's place and its letters, so that the check finds every wrong letter, every two
    /// letters of a group that changed places, and every two groups that did.
    private static func check(of group: ArraySlice<UInt8>, at index: Int) -> UInt8 {
        group.reduce(timesX(UInt8(truncatingIfNeeded: index))) { timesX($0 ^ $1) }
    }

    private static func timesX(_ value: UInt8) -> UInt8 { (value << 1 & 31) ^ (value & 16 == 0 ? 0 : 5) }

    private init(bytes: LockedBytes) { self.bytes = bytes }

    /// The key that Argon2id made from the password of a backup.
    ///
    /// - Parameter password: 32 bytes.
    package init(stretched password: SecretBytes) throws(KeybagError) {
        guard password.count == Self.size,
            let locked = try? password.withUnsafeBytes({ try LockedBytes(copying: $0) })
        else { throw .memoryUnavailable }
        bytes = locked
    }

    /// The 256 bits, for what is no vault.
    package var secret: SymmetricKey { bytes.withUnsafeBytes { SymmetricKey(data: $0) } }

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
    private static let letterCount = 52
    private static let groupSize = 4
}

/// Where a recovery key was typed wrong.
package enum RecoveryKeyMistake: Error, Equatable {
    /// In this group, counted from one.
    case group(Int)
    /// This number of letters is that of no recovery key.
    case length(Int)
}
