import CLibrary
import FoundationEssentials
import PrivateFiles
import Synchronization
import SystemLibraries

/// Decides whether a fingerprint alone is enough. As on Apple's systems, it is enough only if the passcode was given
/// since the machine started and within 48 hours, and not after five misses in a row.
package final class BiometryAllowance: Sendable {
    package static let missesAllowed = 5
    package static let secondsAllowed: Double = 48 * 3_600

    /// The reason why the passcode is needed.
    package enum Lockout: Sendable, Equatable {
        case restarted
        case passcodeTooLongAgo
        case misses
        /// The file with the record is damaged or cannot be read.
        case unknown
    }

    struct Record: Codable, Sendable {
        var version = 1
        var boot: String
        /// The time of the last passcode, in seconds since the machine started.
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

    /// Keeps the record in this object: for a daemon, which asks for the passcode after each start.
    package init(clock: BootClock = .system) {
        storage = .memory
        self.clock = clock
    }

    /// Keeps the record in a separate folder, which processes share. Creates the folder if it does not exist.
    ///
    /// Any program that can write there can allow fingerprints.
    package init(folder path: String, clock: BootClock = .system) {
        // Without the folder no fingerprint counts: that is the safe result.
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

    /// The identifier of this start of the machine, as the kernel writes it.
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

    /// A recognised finger clears earlier misses, unless there were too many.
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
                    // Only the next passcode replaces a damaged record.
                    guard let record = body(try? load()) else { return }
                    try folder.replace(Self.fileName, with: JSONEncoder().encode(record))
                }
            } catch {
                // Removes the record, so that a miss that cannot be counted still has an effect.
                try? folder.remove(Self.fileName)
            }
        }
    }
}
