import Bytes
import CLibrary
import PasswordFiles
import SystemLibraries

/// Argon2 (RFC 9106) in the kinds that libsodium does not have: Argon2d, more lanes than one, other lengths of the
/// salt, and the version before the RFC. libargon2 computes it, the reference implementation.
struct Argon2Lanes {
    /// `argon2_type` of argon2.h.
    enum Kind: Int32 {
        case d = 0
        case id = 2
    }

    /// `argon2_version` of argon2.h.
    enum Version: UInt32 {
        case beforeRFC = 0x10
        case rfc = 0x13
    }

    private let kind: Kind
    private let version: Version
    private let memoryKiB: UInt32
    private let passes: UInt32
    private let lanes: UInt32

    /// - Throws: ``ExchangeError/tooExpensive``.
    init(
        _ kind: Kind, version: Version = .rfc, memoryKiB: UInt32, passes: UInt32, lanes: UInt32
    ) throws(ExchangeError) {
        let memory = UInt64(memoryKiB) << 10
        // libargon2 starts a thread for each lane four times in each pass, which costs more than the least memory.
        guard (1...64).contains(lanes), memoryKiB >= 8 * lanes, memory <= PasswordCost.memoryLimit, passes >= 1,
            memory.timesClamping(UInt64(passes)) <= PasswordCost.workLimit, UInt64(passes) * UInt64(lanes) <= 1 << 16
        else { throw .tooExpensive }
        (self.kind, self.version) = (kind, version)
        (self.memoryKiB, self.passes, self.lanes) = (memoryKiB, passes, lanes)
    }

    /// `argon2_hash` of argon2.h: costs and lanes; password, salt and result, each with its length; no encoded text;
    /// type and version.
    private typealias Hash =
        @convention(c) (
            UInt32, UInt32, UInt32, UnsafeRawPointer?, Int, UnsafeRawPointer?, Int, UnsafeMutableRawPointer?, Int,
            UnsafeMutablePointer<CChar>?, Int, Int32, UInt32
        ) -> Int32

    /// Returns 32 bytes.
    ///
    /// - Parameter salt: At least 8 bytes.
    /// - Throws: ``ExchangeError/missing(_:)`` without the library.
    func stretch(_ password: SecretBytes, salt: [UInt8]) throws -> SecretBytes {
        // libsodium, which is always there, has the most usual kind.
        let cost = PasswordCost.argon2id(memoryKiB: memoryKiB, passes: passes)
        if kind == .id, version == .rfc, lanes == 1, salt.count == 16, cost.isAcceptable, !password.isEmpty {
            return try cost.stretch(password, salt: salt)
        }
        let hash: Hash
        do {
            hash = try SystemLibrary("libargon2.so.1", provides: "the password of this file").function("argon2_hash")
        } catch {
            throw ExchangeError.missing("libargon2")
        }
        var status: Int32 = 0
        let key = try SecretBytes(count: 32) { key in
            status = password.withUnsafeBytes { bytes in
                salt.withUnsafeBytes { salt in
                    hash(
                        passes, memoryKiB, lanes, bytes.baseAddress, bytes.count, salt.baseAddress, salt.count,
                        key.baseAddress, key.count, nil, 0, kind.rawValue, version.rawValue)
                }
            }
        }
        guard status == 0 else { throw ExchangeError.tooExpensive }
        return key
    }
}
