import Access
import Audit
import Crypto
import Foundation
import KeychainModel
import Synchronization
import TestSupport
import VaultInterface

/// A folder with a log in it, and the key of that log.
struct AuditFolder {
    struct Seal: AuditSeal {
        let identifier: UUID
        let key: SymmetricKey

        init(_ number: UInt8 = 1, keyed: UInt8? = nil) {
            identifier = UUID(uuid: (number, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
            key = SymmetricKey(data: Data(repeating: keyed ?? number, count: 32))
        }

        func tag(of message: Data) -> Data {
            Data(HMAC<SHA256>.authenticationCode(for: message, using: key))
        }
    }

    let folder: TemporaryFolder
    let limits: AuditLimits
    let seal: Seal

    init(seal: Seal = Seal(), limits: AuditLimits = AuditLimits()) throws {
        folder = try TemporaryFolder()
        self.limits = limits
        self.seal = seal
    }

    var path: String { folder.path }
    var place: AuditPlace { place(Seal()) }

    /// What an unlocking of the vault opens.
    static let anchorSeal = Seal(1, keyed: 101)

    func place(_ seal: Seal) -> AuditPlace {
        AuditPlace(
            folder: folder.path, seal: { seal }, anchorSeal: { Self.anchorSeal },
            now: { Date(timeIntervalSince1970: 1_763_729_481.5) })
    }

    /// Does what an unlocking does to the log.
    @discardableResult
    func anchor(isExpected: Bool = true) -> AuditAnchoring { log().anchor(isExpected: isExpected) }

    /// Verifies the log as the unlocked vault does.
    func verifyUnlocked(isExpected: Bool = true) throws -> AuditReport? {
        try AuditVerifier.verify(
            folder: path, under: Seal(), anchorSeal: Self.anchorSeal, isAnchorExpected: isExpected, limits: limits)
    }

    /// A log as a daemon keeps it, on a clock that goes on by a millisecond with each event.
    ///
    /// - Parameter offset: By how many seconds the clock was set since.
    func buffered(
        _ shares: AuditShares.Limits = AuditShares.Limits(), folding: Duration = .seconds(1_000_000),
        offset: ClockOffset = ClockOffset()
    ) -> BufferedAudit {
        let log = BufferedAudit(limits: limits, shares: shares, folding: folding)
        let ticks = Atomic(0)
        log.begin(
            in: AuditPlace(
                folder: folder.path, seal: { Seal() },
                now: {
                    let tick = ticks.add(1, ordering: .relaxed).newValue
                    return Date(
                        timeIntervalSince1970: 1_763_729_481.5 + Double(tick) / 1_000
                            + Double(offset.seconds.load(ordering: .relaxed)))
                }))
        return log
    }

    func log(_ seal: Seal = Seal()) -> AuditLog {
        let log = AuditLog(limits: limits)
        log.begin(in: place(seal))
        return log
    }

    func verify(_ seal: Seal = Seal()) throws -> AuditReport? {
        try AuditVerifier.verify(folder: path, under: seal, limits: limits)
    }

    func records(limit: Int) throws -> [AuditRecord] { try records(AuditQuery(limit: limit)) }

    func records(_ query: AuditQuery = AuditQuery()) throws -> [AuditRecord] {
        try AuditReader(folder: path, limits: limits).records(query) ?? []
    }

    func contents(_ name: String = "audit-looks.log") throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: path + "/" + name))
    }

    func replace(_ name: String = "audit-looks.log", with bytes: Data) throws {
        try FolderContents.write(bytes, to: path + "/" + name)
    }
}

extension AuditEvent {
    static func read(_ number: Int, by client: String = "client") -> AuditEvent {
        AuditEvent(
            .read, client: client,
            operation: AccessRequest(.copy, itemClass: .genericPassword, accessGroup: "TEAM.group"), items: number)
    }
}

/// By how many seconds a test has set the clock.
final class ClockOffset: Sendable {
    let seconds = Atomic(0)
}
