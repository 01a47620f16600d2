import Bytes
import CLibrary
import Circle
import Crypto
import FoundationEssentials
import Items
import Keybag
import KeychainModel
import VaultInterface

/// The circle in a read or a transaction: what the vault knows of it, and those of its keys that the lock permits.
///
/// For one thread.
final class CircleSession {
    let tables: CircleReader
    let keybag: OpenedKeybag
    private(set) var own: OwnMember
    /// Nil while joining, until the circle is found.
    var log: MembershipLog?
    /// The number of this vault; nil until it is admitted.
    private(set) var number: UInt32?

    private var viewKeys: [KeyPlace: ViewKey] = [:]
    private var generations: [Identifier16: [UInt32]] = [:]
    private var views: [Identifier16: HeldView]?
    /// Access groups that other members offered, and that nobody here has taken.
    private(set) var offers: [String] = []
    private var checkers: [Data: RecordChecker] = [:]
    /// What signs this vault's records, once that was asked for.
    var writer: RecordWriter?
    /// The recovery key, once it was asked for; see ``recovery(in:)``.
    var recovery: CircleRecovery?
    /// Whether this vault comes back with the recovery key.
    private(set) lazy var isRecovering = ((try? tables.state(State.recovery)) ?? nil) != nil

    func endRecovery() { (recovery, isRecovering) = (nil, false) }

    struct KeyPlace: Hashable {
        var view: Identifier16
        var generation: UInt32
        var keyClass: KeyClass
    }

    /// A view that this vault holds, as the last entry of its chain says.
    struct HeldView {
        let entry: ViewEntry
        let body: ViewEntry.Body

        var identifier: Identifier16 { entry.view }
    }

    /// - Parameter logs: Logs that were read before.
    /// - Returns: Nil for a vault that is in no circle.
    init?(_ tables: CircleReader, _ keybag: OpenedKeybag, _ logs: CircleLogs) throws {
        guard try tables.isThere, let own = try tables.state(State.own) else { return nil }
        (self.tables, self.keybag) = (tables, keybag)
        self.own = try OwnMember(decoding: own)
        log = try logs.log(from: tables)
        number = Self.number(of: self.own, in: log)
    }

    /// A vault that begins to be a member.
    init(_ tables: CircleReader, _ keybag: OpenedKeybag, _ own: OwnMember) {
        (self.tables, self.keybag, self.own) = (tables, keybag, own)
    }

    /// The names of what `circle_state` holds.
    enum State {
        /// ``OwnMember``.
        static let own = "own"
        /// The machine's name, as it was given.
        static let name = "name"
        /// Where carriers meet.
        static let location = "location"
        /// The secret of the invitation, sealed, while joining.
        static let invitation = "invitation"
        /// What names this vault's own request to join.
        static let asked = "asked"
        /// Items that are too large to travel, by the digits of their rows.
        static let large = "large/"
        /// The last time of the clock (8).
        static let clock = "clock"
        /// The key of the writer, sealed, and then its certificate.
        static let writer = "writer"
        /// The recovery key with which this vault comes back, sealed, until it has what that opens.
        static let recovery = "recovery"
        /// Requests of others, by the digits of what names them: when each came (8), and the request.
        static let requests = "request/"
        /// Requests that were refused, by the same digits: the invitation (16).
        static let refused = "refused/"
        /// Admissions by this vault in whose place another entry counts, by their digests.
        static let displaced = "displaced/"
        /// Views that this vault and another member changed at once: the holders (4 each) that this vault named.
        static let holders = "holders/"
        /// Views to which this vault and another member gave new keys at once: the generation (4), and 1 if this vault
        /// has to give new ones.
        static let contested = "contested/"
        /// The entry of the log that this software does not understand.
        static let stopped = "stopped"
        /// When this vault gave up last what waited, to read the store once more (8).
        static let gaveUp = "gave-up"
        /// When what is needed no more was forgotten last.
        static let upkeep = "upkeep"
        /// Access groups whose items travel here, by name: what another member offers is no reason to give items away.
        static let groups = "group/"
        /// How far the changes of a view's rows were seen: change (8), row (8).
        static let scanned = "scanned/"
        /// For which generation (4) of a view's keys, and for which last entry of the log (32), no item is left that
        /// this vault has to seal anew.
        static let sealed = "sealed/"
        /// Where a carrier goes on.
        static let place = "place/"
    }

    private static func number(of own: OwnMember, in log: MembershipLog?) -> UInt32? {
        log?.members.values.first { $0.keys.signing == own.keys.signing }?.number
    }

    /// Notes that the log has grown.
    func logChanged(to log: MembershipLog) {
        self.log = log
        number = Self.number(of: own, in: log)
        views = nil
    }

    /// Notes that entries of views are gone.
    func forgetViews() { views = nil }

    var standing: CircleStanding {
        guard let log, let number else { return .joining }
        return log.member(number) == nil ? .removed : .member
    }

    /// Why nothing travels: the log has an entry that only later software understands. Nil if it has none.
    var needs: String? {
        get throws {
            guard let encoded = try tables.state(State.stopped), var log else { return nil }
            do {
                try log.append(encoded)
                return nil
            } catch .needsLater(let version) {
                return CircleError.needsLater(version).reason
            } catch {
                return nil
            }
        }
    }

    /// Whether this vault itself said that it leaves.
    var hasLeft: Bool { number.flatMap { log?.members[$0]?.left } != nil }

    /// The member that this vault is; nil unless it is one.
    var member: MembershipLog.Member? { number.flatMap { log?.member($0) } }

    // MARK: Keys

    private static let circleView = Identifier16.zero

    func circleKey() throws -> CircleKey? {
        guard
            let sealed = try tables.key(
                of: Self.circleView.bytes, generation: 0, class: KeyClass.afterFirstUnlock.rawValue)
        else { return nil }
        return CircleKey(secret: try keybag.openForCircle(sealed, as: "circle key", .afterFirstUnlock))
    }

    func put(_ key: CircleKey, _ writer: CircleWriter) throws {
        let sealed = try keybag.sealForCircle(key.secret, as: "circle key", .afterFirstUnlock)
        try writer.put(
            key: sealed, of: Self.circleView.bytes, generation: 0, class: KeyClass.afterFirstUnlock.rawValue)
    }

    /// A key of a view; nil if this vault does not have it.
    ///
    /// - Throws: ``KeybagError/locked(_:)``.
    func viewKey(_ view: Identifier16, _ generation: UInt32, _ keyClass: KeyClass) throws -> ViewKey? {
        let place = KeyPlace(view: view, generation: generation, keyClass: keyClass)
        if let known = viewKeys[place] { return known }
        guard let sealed = try tables.key(of: view.bytes, generation: generation, class: keyClass.rawValue) else {
            return nil
        }
        let key = ViewKey(secret: try keybag.openForCircle(sealed, as: "view key", keyClass))
        viewKeys[place] = key
        return key
    }

    /// The generations of a view of which this vault has keys, ascending.
    func generations(of view: Identifier16) throws -> [UInt32] {
        if let known = generations[view] { return known }
        let found = try tables.generations(of: view.bytes)
        generations[view] = found
        return found
    }

    /// Whether this vault has a key, locked or not.
    func hasViewKey(_ view: Identifier16, _ generation: UInt32, _ keyClass: KeyClass) throws -> Bool {
        try tables.key(of: view.bytes, generation: generation, class: keyClass.rawValue) != nil
    }

    func put(_ key: ViewKey, of view: Identifier16, _ generation: UInt32, _ keyClass: KeyClass, _ writer: CircleWriter)
        throws
    {
        let sealed = try keybag.sealForCircle(key.secret, as: "view key", keyClass)
        try writer.put(key: sealed, of: view.bytes, generation: generation, class: keyClass.rawValue)
        viewKeys[KeyPlace(view: view, generation: generation, keyClass: keyClass)] = key
        generations[view] = nil
    }

    // MARK: Views

    /// The views that this vault holds.
    ///
    /// - Throws: ``KeybagError/locked(_:)`` before the first unlocking.
    func heldViews() throws -> [Identifier16: HeldView] {
        if let views { return views }
        var (held, offers): ([Identifier16: HeldView], [String]) = ([:], [])
        for encoded in try tables.views() {
            let entry = try ViewEntry(decoding: encoded)
            guard let key = try viewKey(entry.view, entry.generation, .afterFirstUnlock),
                let signer = log?.members[entry.signer]
            else { continue }
            // It was checked before it was stored.
            let body = try entry.open(under: key, signedBy: signer.keys)
            if try tables.state(State.groups + body.name) != nil {
                held[entry.view] = HeldView(entry: entry, body: body)
            } else {
                offers.append(body.name)
            }
        }
        (views, self.offers) = (held, offers.sorted())
        return held
    }

    /// Lets the items of an access group travel here.
    func accept(_ group: String, _ writer: CircleWriter) throws {
        try writer.set(State.groups + group, Data())
        views = nil
    }

    func put(_ entry: ViewEntry, _ writer: CircleWriter) throws {
        try writer.put(
            viewEntry: entry.encoded, of: entry.view.bytes, generation: entry.generation, number: entry.number)
        views = nil
    }

    // MARK: Records

    /// What checks the records of a writer; nil if its certificate did not come yet.
    func checker(_ member: UInt32, serial: UInt16) throws -> RecordChecker? {
        guard let encoded = try tables.writer(member, serial: serial) else { return nil }
        if let known = checkers[encoded] { return known }
        let checker = try RecordChecker(WriterCertificate(decoding: encoded))
        checkers[encoded] = checker
        return checker
    }

    func place(of item: CircleRow) throws -> CircleRecord.Place {
        guard let name = Identifier16(item.name), let view = Identifier16(item.view) else {
            throw CircleError.malformed("row of the circle")
        }
        return try place(of: name, in: view)
    }

    func place(of name: Identifier16, in view: Identifier16) throws -> CircleRecord.Place {
        guard let log else { throw VaultError.corruptVault(reason: "a record without a circle") }
        return CircleRecord.Place(circle: log.circle, view: view, name: name)
    }

    /// Opens a record that was checked before it was stored.
    ///
    /// - Throws: ``KeybagError/locked(_:)``.
    func open(_ record: CircleRecord, at place: CircleRecord.Place) throws -> RecordBody {
        guard let key = try viewKey(place.view, record.generation, record.keyClass) else {
            throw VaultError.corruptVault(reason: "a key of the circle is missing")
        }
        return try record.open(at: place, under: key)
    }
}

/// What is remembered between operations on a circle: its log, which is read once, and what need not be tried again.
final class CircleLogs: Sendable {
    private let known = UnfairMutex<MembershipLog?>(nil)
    private let tried = UnfairMutex<Set<Data>>([])

    /// Whether a delivery is to be opened: a TPM takes long for each, and what opened in vain before opens in vain
    /// again.
    func begins(_ delivery: Data) -> Bool { tried.withLock { $0.insert(delivery.sha256).inserted } }

    /// Notes that something came for which deliveries may have waited, or that the vault was unlocked.
    func tryAgain() { tried.withLock { $0.removeAll() } }

    /// Returns the log; nil if there is none yet.
    func log(from tables: CircleReader) throws -> MembershipLog? {
        var log = known.withLock { $0 }
        if let known = log {
            // Another process may have written a longer one, or another circle's.
            let rest = try tables.log(from: known.count - 1)
            if rest.first?.sha256 == known.head {
                for entry in rest.dropFirst() { try log?.append(entry) }
            } else {
                log = nil
            }
        }
        if log == nil {
            let entries = try tables.log(from: 0)
            guard let first = entries.first else { return nil }
            log = try MembershipLog(first: first)
            for entry in entries.dropFirst() { try log?.append(entry) }
        }
        known.withLock { $0 = log }
        return log
    }
}
