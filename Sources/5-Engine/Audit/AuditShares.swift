import Access
import CLibrary
import FoundationEssentials

/// What each program, and all programs of a user together, may still write into the logs.
///
/// Looks, failures and changes have shares of their own, so that a program cannot hide its changes behind its looks.
package struct AuditShares {
    package struct Limits: Sendable {
        /// The bytes that a program may write at once, and in a day, of looks, of failures and of changes each.
        package var program = 512 << 10
        /// The same for all programs of a user. The user of the vault has no such limit: the files belong to that user.
        package var user = 2 << 20
        /// The user of the vault.
        package var owner: UInt32 = geteuid()

        package init() {}
    }

    /// The share that is used up.
    enum Shortage { case program, user }

    private enum Purpose: Hashable {
        case look, failure, change

        init(of event: AuditEvent) {
            self = event.kind.isLook ? .look : event.failure == nil ? .change : .failure
        }
    }

    private struct Holder: Hashable {
        let purpose: Purpose
        let user: UInt32
        /// The name of the program; nil for all programs of the user.
        let program: String?
    }

    private struct Share {
        var used: Double
        var time: Date
    }

    private let limits: Limits
    private var shares: [Holder: Share] = [:]
    /// The number of shares at which unused ones are forgotten.
    private var forgettingCount = 4_096

    init(_ limits: Limits) { self.limits = limits }

    /// Takes the place of a record from the shares of its program and its user.
    ///
    /// - Parameter isFoldable: Whether a second record may follow, with the number of the repeats.
    /// - Returns: Whose share is used up; nil if the record may be written.
    mutating func take(for event: AuditEvent, isFoldable: Bool, at time: Date) -> Shortage? {
        // Nil for the owner's tool, and for the daemon itself.
        guard let program = event.program else { return nil }
        let bytes = Self.size(of: event) * (isFoldable ? 2 : 1)
        let holder = Holder(purpose: Purpose(of: event), user: program.user, program: program.name)
        guard hasRoom(for: bytes, holder, at: time) else { return .program }
        // The user first, so that a user cannot make shares for any number of programs.
        guard takeOfUser(bytes, for: event, at: time) else { return .user }
        add(bytes, to: holder, at: time)
        return nil
    }

    /// Returns whether a record that differs from another one only in its items may be written: such records take at
    /// most half of a share, so that the other half is left for what else the program does.
    func hasRoomForItems(of event: AuditEvent, at time: Date) -> Bool {
        guard let program = event.program else { return true }
        let bytes = Double(2 * Self.size(of: event))
        let purpose = Purpose(of: event)
        var holders = [Holder(purpose: purpose, user: program.user, program: program.name)]
        if program.user != limits.owner { holders.append(Holder(purpose: purpose, user: program.user, program: nil)) }
        return holders.allSatisfy { used(by: $0, at: time) + bytes <= Double(limit(of: $0)) / 2 }
    }

    /// Takes the place of a record from the share of its user alone.
    ///
    /// - Returns: Whether there was room.
    mutating func takeOfUser(for event: AuditEvent, at time: Date) -> Bool {
        takeOfUser(Self.size(of: event), for: event, at: time)
    }

    private mutating func takeOfUser(_ bytes: Int, for event: AuditEvent, at time: Date) -> Bool {
        guard let user = event.program?.user, user != limits.owner else { return true }
        let holder = Holder(purpose: Purpose(of: event), user: user, program: nil)
        guard hasRoom(for: bytes, holder, at: time) else { return false }
        add(bytes, to: holder, at: time)
        return true
    }

    private func hasRoom(for bytes: Int, _ holder: Holder, at time: Date) -> Bool {
        used(by: holder, at: time) + Double(bytes) <= Double(limit(of: holder))
    }

    private mutating func add(_ bytes: Int, to holder: Holder, at time: Date) {
        shares[holder] = Share(used: used(by: holder, at: time) + Double(bytes), time: time)
        guard shares.count >= forgettingCount else { return }
        shares = shares.filter { used(by: $0.key, at: time) > 0 }
        forgettingCount = max(forgettingCount, 2 * shares.count)
    }

    /// What is used of a share, all of which comes back within a day. A clock that was set back returns nothing.
    private func used(by holder: Holder, at time: Date) -> Double {
        guard let share = shares[holder] else { return 0 }
        let days = max(0, time.timeIntervalSince(share.time)) / 86_400
        return max(0, share.used - days * Double(limit(of: holder)))
    }

    private func limit(of holder: Holder) -> Int { holder.program == nil ? limits.user : limits.program }

    /// The largest size of the record of an event.
    private static func size(of event: AuditEvent) -> Int {
        let isPlain = event.client.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
        // 19 bytes for each digest with its quotes and comma.
        let digests = event.operation?.itemDigests.count ?? 0
        return 450 + (event.request?.size ?? 0) + (digests > 0 ? 10 + 19 * digests : 0)
            + (isPlain ? min(event.client.utf8.count, 256) : 6 * 256)
    }
}
