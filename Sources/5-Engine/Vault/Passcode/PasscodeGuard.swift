import FoundationEssentials
import Keybag
import PrivateFiles
import Synchronization
import SystemLibraries

/// Counts the wrong passcodes of a vault, and makes guessing slow.
///
/// A try is counted as wrong, durably, before the passcode is looked at: a program that is killed in
/// between has had its try.
final class PasscodeGuard: Sendable {
    private let folder: PrivateFolder?
    private let clock: BootClock
    /// For a vault in memory.
    private let inMemory = Mutex(PasscodeAttempts())

    static let fileName = "attempts"

    init(folder: PrivateFolder?, clock: BootClock) {
        self.folder = folder
        self.clock = clock
    }

    /// What became of a request to try a passcode.
    enum Permission {
        /// Go on; so many wrong ones there will have been if this is another.
        case granted(failures: UInt32)
        case refused(wait: Double)
    }

    func beginTry(_ keys: ClassKeys) throws -> Permission {
        try changing(keys) { attempts in
            let wait = attempts.remainingWait(now: clock)
            guard wait == 0 else { return .refused(wait: wait) }
            attempts.countFailure(now: clock)
            return .granted(failures: attempts.failures)
        }
    }

    /// Nobody looked at the passcode.
    func takeBackTry(_ keys: ClassKeys) throws {
        try changing(keys) { $0.takeBackFailure() }
    }

    /// The passcode was right.
    func forget(_ keys: ClassKeys) throws {
        try changing(keys) { $0 = PasscodeAttempts() }
    }

    /// How many wrong passcodes there were and how many seconds the next has to wait.
    func state(_ keys: ClassKeys) throws -> (failures: UInt32, wait: Double) {
        var attempts = try folder.map { try read($0, keys) ?? .unknown(now: clock) } ?? inMemory.withLock { $0 }
        return (attempts.failures, attempts.remainingWait(now: clock))
    }

    private func changing<Result>(
        _ keys: ClassKeys, _ change: (inout PasscodeAttempts) throws -> Result
    ) throws -> Result {
        guard let folder else { return try inMemory.withLock { try change(&$0) } }
        return try folder.withLock {
            let before = try read(folder, keys)
            var attempts = before ?? .unknown(now: clock)
            let result = try change(&attempts)
            if attempts != before {
                try folder.replace(Self.fileName, with: attempts.encoded(in: keys.enclave))
            }
            return result
        }
    }

    /// Nil if the record is missing or damaged.
    private func read(_ folder: PrivateFolder, _ keys: ClassKeys) throws -> PasscodeAttempts? {
        let encoded: Data
        do throws(FileError) {
            encoded = try folder.read(Self.fileName, limit: 4096)
        } catch {
            switch error {
            case .notFound, .tooLarge: return nil
            default: throw error
            }
        }
        return try PasscodeAttempts(decoding: encoded, in: keys.enclave, salt: keys.keybag.salt)
    }
}
