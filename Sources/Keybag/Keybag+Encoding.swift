import Crypto
import Enclave
import Foundation
import KeychainModel

/// The keybag file: a fixed header, one entry for each class key, and a MAC over everything before it.
///
///     offset  bytes  field (integers big-endian)
///          0      8  magic "SKKEYBAG"
///          8      2  format version, 1
///         10      1  enclave kind
///         11      1  passcode key derivation, 0 = none
///         12     16  identifier
///         28     16  identifier of the keybag this one replaced, or zeros
///         44     32  salt
///         76      1  number of entries
///         77   41*n  entries: class code, 40 bytes of wrapped key; ascending by class code
///        end     32  HMAC-SHA256 under the enclave's key for "swift-keychain/v1/keybag"
extension Keybag {
    /// The file's largest size: one entry for each class code a byte can hold.
    package static let largestEncoding = headerSize + 255 * entrySize + macSize

    package func encoded(in enclave: any Enclave) throws(KeybagError) -> Data {
        var encoded = Data(Self.magic)
        encoded.append(contentsOf: [0, 1, enclaveKind.rawValue, 0])
        encoded.append(Self.bytes(of: identifier))
        encoded.append(replaces.map(Self.bytes(of:)) ?? Data(count: 16))
        encoded.append(salt)
        encoded.append(UInt8(wrappedKeys.count))
        for (protection, wrapped) in wrappedKeys.sorted(by: { $0.key.storedCode < $1.key.storedCode }) {
            encoded.append(protection.storedCode)
            encoded.append(wrapped)
        }
        let key = try Self.derive(in: enclave, salt: salt, context: Self.macContext)
        encoded.append(contentsOf: HMAC<SHA256>.authenticationCode(for: encoded, using: key))
        return encoded
    }

    /// The keybag stored as `encoded`, after its MAC was checked.
    package init(decoding encoded: Data, in enclave: any Enclave) throws(KeybagError) {
        let bytes = [UInt8](encoded)
        guard bytes.count >= 10, Array(bytes[0..<8]) == Self.magic else {
            throw .malformed(reason: "not a keybag")
        }
        let version = UInt16(bytes[8]) << 8 | UInt16(bytes[9])
        guard version == 1 else { throw .unknownVersion(version) }
        guard bytes.count >= Self.headerSize + Self.macSize else {
            throw .malformed(reason: "only \(bytes.count) bytes")
        }
        let count = Int(bytes[76])
        let bodySize = Self.headerSize + count * Self.entrySize
        guard bytes.count == bodySize + Self.macSize else {
            throw .malformed(reason: "\(bytes.count) bytes for \(count) class keys")
        }
        guard let kind = EnclaveKind(rawValue: bytes[10]), kind == enclave.kind else {
            throw .otherEnclave(stored: bytes[10])
        }
        let salt = Data(bytes[44..<76])
        let key = try Self.derive(in: enclave, salt: salt, context: Self.macContext)
        guard
            HMAC<SHA256>.isValidAuthenticationCode(
                bytes[bodySize...], authenticating: bytes[..<bodySize], using: key)
        else { throw .authenticationFailed }

        guard bytes[11] == 0 else { throw .malformed(reason: "unknown passcode key derivation \(bytes[11])") }
        var wrapped: [ProtectionClass: Data] = [:]
        for index in 0..<count {
            let start = Self.headerSize + index * Self.entrySize
            guard let protection = ProtectionClass(storedCode: bytes[start]), wrapped[protection] == nil else {
                throw .malformed(reason: "class code \(bytes[start])")
            }
            wrapped[protection] = Data(bytes[(start + 1)..<(start + Self.entrySize)])
        }
        let replaced = Self.uuid(bytes[28..<44])
        self.init(
            identifier: Self.uuid(bytes[12..<28]), replaces: replaced == Self.zero ? nil : replaced,
            enclaveKind: kind, salt: salt, wrappedKeys: wrapped)
    }

    private static let magic = [UInt8]("SKKEYBAG".utf8)
    private static let headerSize = 77
    private static let entrySize = 41
    private static let macSize = 32
    private static let macContext = "swift-keychain/v1/keybag"
    private static let zero = uuid([UInt8](repeating: 0, count: 16)[...])

    private static func bytes(of identifier: UUID) -> Data {
        withUnsafeBytes(of: identifier.uuid) { Data($0) }
    }

    /// `bytes` is always a slice of sixteen.
    private static func uuid(_ bytes: ArraySlice<UInt8>) -> UUID {
        bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
