import FoundationEssentials
import Glibc
import KeychainModel
import PrivateFiles
import Synchronization

/// Whether a fingerprint alone is enough: only if the passcode was given since the machine started and
/// within 48 hours, and not after five misses in a row, as Apple has it.
package final class BiometryAllowance: Sendable {
    package static let missesAllowed = 5
    package static let secondsAllowed: Double = 48 * 3_600

    /// Why the passcode is needed.
    package enum Lockout: Sendable, Equatable {
        case restarted
        case passcodeTooLongAgo
        case misses
        /// The file that tells is damaged or cannot be reached.
        case unknown
    }

    struct Record: Codable, Sendable {
        var version = 1
        var boot: String
        /// When the passcode was given last, in seconds since the machine started.
        var passcodeGiven: Double
        var misses = 0
    }

    private enum Storage {
        case memory
        case folder(PrivateFolder)
        case unusable
    }

    private static let fileName = "biometry-allowance"

    private let storage: Storage
    private let memory = Mutex<Record?>(nil)
    private let clock: BootClock

    /// Kept by this object: for a daemon, whose every start asks for the passcode anew.
    package init(clock: BootClock = .system) {
        storage = .memory
        self.clock = clock
    }

    /// Kept in a folder of its own and shared by processes; made if it is not there. Whoever can write there
    /// can allow fingerprints.
    package init(folder path: String, clock: BootClock = .system) {
        // Without the folder no fingerprint counts, which is what its absence asks for.
        storage = (try? PrivateFolder(creating: path)).map { .folder($0) } ?? .unusable
        self.clock = clock
    }

    /// Nil while a fingerprint is enough.
    package var lockout: Lockout? {
        guard let boot else { return .unknown }
        let record: Record?
        do {
            record = try load()
        } catch {
            return .unknown
        }
        guard let record, record.boot == boot else { return .restarted }
        let age = clock.uptime() - record.passcodeGiven
        guard age >= 0, age < Self.secondsAllowed else { return .passcodeTooLongAgo }
        return record.misses < Self.missesAllowed ? nil : .misses
    }

    /// Which start of the machine this is, as the kernel writes it.
    private var boot: String? { clock.bootIdentifier()?.uuidString.lowercased() }

    package func passcodeWasGiven() {
        guard let boot else { return }
        change { _ in Record(boot: boot, passcodeGiven: clock.uptime()) }
    }

    package func wasMissed() {
        change { record in
            guard var record else { return nil }
            record.misses = min(record.misses + 1, Self.missesAllowed)
            return record
        }
    }

    /// A finger that is recognised makes good for misses before, unless there were too many.
    package func wasRecognized() {
        change { record in
            guard var record, record.misses < Self.missesAllowed else { return record }
            record.misses = 0
            return record
        }
    }

    private func load() throws -> Record? {
        switch storage {
        case .memory: return memory.withLock { $0 }
        case .unusable: throw POSIXError(.ENOENT)
        case .folder(let folder):
            guard folder.contains(Self.fileName) else { return nil }
            let record = try JSONDecoder().decode(Record.self, from: folder.read(Self.fileName, limit: 4_096))
            guard record.version == 1 else { throw POSIXError(.EINVAL) }
            return record
        }
    }

    private func change(_ body: (Record?) -> Record?) {
        switch storage {
        case .memory: memory.withLock { $0 = body($0) }
        case .unusable: break
        case .folder(let folder):
            do {
                try folder.withLock(deadline: .seconds(5)) {
                    // What is damaged is replaced by the next passcode and by nothing else.
                    guard let record = body(try? load()) else { return }
                    try folder.replace(Self.fileName, with: JSONEncoder().encode(record))
                }
            } catch {
                // A miss that cannot be counted must not be for free.
                try? folder.remove(Self.fileName)
            }
        }
    }
}
