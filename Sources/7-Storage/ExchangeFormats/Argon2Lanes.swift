import Bytes
import CLibrary
import PasswordFiles
import SystemLibraries

/// Argon2 (RFC 9106) in the kinds that libsodium does not have: Argon2d, and more lanes than one. libargon2 computes
/// it, the reference implementation.
struct Argon2Lanes {
    enum Kind: String {
        case d = "argon2d_hash_raw"
        case id = "argon2id_hash_raw"
    }

    private let kind: Kind
    private let memoryKiB: UInt32
    private let passes: UInt32
    private let lanes: UInt32

    /// - Throws: ``ExchangeError/tooExpensive``.
    init(_ kind: Kind, memoryKiB: UInt32, passes: UInt32, lanes: UInt32) throws(ExchangeError) {
        guard PasswordCost.argon2id(memoryKiB: memoryKiB, passes: passes).isAcceptable, (1...64).contains(lanes),
            memoryKiB >= 8 * lanes
        else { throw .tooExpensive }
        (self.kind, self.memoryKiB, self.passes, self.lanes) = (kind, memoryKiB, passes, lanes)
    }

    /// `argon2.h`: costs, lanes, password, salt and result, each with its length.
    private typealias Hash =
        @convention(c) (
            UInt32, UInt32, UInt32, UnsafeRawPointer?, Int, UnsafeRawPointer?, Int, UnsafeMutableRawPointer?, Int
        ) -> Int32

    /// Returns 32 bytes.
    ///
    /// - Throws: ``ExchangeError/missing(_:)`` without the library.
    func stretch(_ password: SecretBytes, salt: [UInt8]) throws -> SecretBytes {
        let hash: Hash
        do {
            hash = try SystemLibrary("libargon2.so.1", provides: "the password of this file").function(kind.rawValue)
        } catch {
            throw ExchangeError.missing("libargon2")
        }
        var status: Int32 = 0
        let key = try SecretBytes(count: 32) { key in
            status = password.withUnsafeBytes { bytes in
                salt.withUnsafeBytes { salt in
                    hash(
                        passes, memoryKiB, lanes, bytes.baseAddress, bytes.count, salt.baseAddress, salt.count,
                        key.baseAddress, key.count)
                }
            }
        }
        guard status == 0 else { throw ExchangeError.tooExpensive }
        return key
    }
}
