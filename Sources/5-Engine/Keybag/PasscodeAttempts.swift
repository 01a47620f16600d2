import Bytes
import Crypto
import Enclave
import FoundationEssentials
import SystemLibraries

/// Counts the wrong passcodes in a row, and determines the wait before the next try.
///
/// Waits are measured in time since the machine's start, which nobody can set. After a restart, a wait begins again.
/// Stored as
///
///     offset  bytes  field (integers big-endian)
///          0      8  magic "SKTRIES" and a zero
///          8      2  format version, 1
///         10      4  wrong passcodes in a row
///         14     16  which start of the machine the last one was in
///         30      8  milliseconds from that start
///         38     32  HMAC-SHA256 under the enclave's key for "swift-keychain/v1/attempts"
package struct PasscodeAttempts: Sendable, Equatable {
    package private(set) var failures: UInt32
    private var boot: UUID
    private var milliseconds: UInt64

    /// No wrong passcodes so far.
    package init() {
        failures = 0
        boot = .zero
        milliseconds = 0
    }

    /// Returns the record that is assumed if the stored one is missing or damaged, because someone may have had a
    /// reason to remove it: as many wrong passcodes as cause the first wait.
    package static func unknown(now clock: BootClock) -> PasscodeAttempts {
        var attempts = PasscodeAttempts()
        attempts.failures = freeFailures
        attempts.countFailure(now: clock)
        return attempts
    }

    /// The waits in seconds after the fourth wrong passcode and the following ones: Apple Platform Security, "Passcodes
    /// and passwords".
    private static let waits: [Double] = [60, 300, 900, 3600, 3 * 3600, 8 * 3600]
    /// The number of wrong passcodes without a wait.
    private static let freeFailures: UInt32 = 3

    /// Returns the wait in seconds after `failures` wrong passcodes in a row.
    package static func wait(after failures: UInt32) -> Double {
        guard failures > freeFailures else { return 0 }
        return waits[min(Int(failures - freeFailures), waits.count) - 1]
    }

    package mutating func countFailure(now clock: BootClock) {
        failures = failures == .max ? .max : failures + 1
        stamp(clock)
    }

    /// Takes back a failure that was counted before the passcode was checked. The time stays, so that this shortens no
    /// wait.
    package mutating func takeBackFailure() {
        if failures > 0 { failures -= 1 }
    }

    /// Returns the seconds until the next passcode is checked. Begins the wait again if the machine was restarted
    /// meanwhile.
    package mutating func remainingWait(now clock: BootClock) -> Double {
        let wait = Self.wait(after: failures)
        guard wait > 0 else { return 0 }
        if boot != Self.boot(clock) || Double(milliseconds) > clock.uptime() * 1000 { stamp(clock) }
        return max(0, wait - (clock.uptime() - Double(milliseconds) / 1000))
    }

    private mutating func stamp(_ clock: BootClock) {
        boot = Self.boot(clock)
        milliseconds = UInt64(clamping: max(0, clock.uptime()) * 1000)
    }

    /// If the start cannot be identified, all starts count as the same one, and waits end by the uptime alone.
    private static func boot(_ clock: BootClock) -> UUID { clock.bootIdentifier() ?? .zero }

    package static let encodedSize = 8 + 2 + 4 + 16 + 8 + 32
    private static let magic = Array("SKTRIES\0".utf8)
    private static let version: UInt8 = 2
    /// A renewal of the class keys changes the keybag's salt, and must not make the record count as missing.
    private static let salt = Data(count: 32)

    package func encoded(in enclave: any Enclave) throws(KeybagError) -> Data {
        var encoded = Data(Self.magic + [0, Self.version])
        encoded.append(bigEndian: failures)
        withUnsafeBytes(of: boot.uuid) { encoded.append(contentsOf: $0) }
        encoded.append(bigEndian: milliseconds)
        let key = try Keybag.derive(in: enclave, salt: Self.salt, context: Self.context(Self.version))
        encoded.append(contentsOf: HMAC<SHA256>.authenticationCode(for: encoded, using: key))
        return encoded
    }

    private static func context(_ version: UInt8) -> String { "swift-keychain/v\(version)/attempts" }

    /// Decodes a record; nil if it does not belong to this vault.
    ///
    /// - Parameter salt: Of the keybag, to which a record of version 1 is bound.
    package init?(decoding encoded: Data, in enclave: any Enclave, salt: Data) throws(KeybagError) {
        let bytes = [UInt8](encoded)
        guard bytes.count == Self.encodedSize, bytes.starts(with: Self.magic + [0]),
            (1...Self.version).contains(bytes[9])
        else { return nil }
        let key = try Keybag.derive(
            in: enclave, salt: bytes[9] == 1 ? salt : Self.salt, context: Self.context(bytes[9]))
        guard HMAC<SHA256>.isValidAuthenticationCode(bytes[38...], authenticating: bytes[..<38], using: key) else {
            return nil
        }
        failures = UInt32(bigEndianBytes: bytes[10..<14])
        boot = bytes[14..<30].withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        milliseconds = UInt64(bigEndianBytes: bytes[30..<38])
    }
}

extension UUID {
    /// All bits zero, which identifies no start of a machine.
    fileprivate static let zero = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
}
