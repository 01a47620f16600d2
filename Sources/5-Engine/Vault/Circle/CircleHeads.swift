import Access
import Bytes
import Circle
import FoundationEssentials
import Items
import Keybag
import KeychainModel
import VaultInterface

/// What the members of a circle say of how far they have got: makes this vault's, and keeps the last of each other.
///
/// A vault says something only if that is new, and no more often than ``interval(members:)``: a circle at rest is
/// silent.
struct CircleHeads {
    let session: CircleSession

    private var tables: CircleReader { session.tables }

    /// The names of what `circle_state` holds of heads.
    private enum State {
        /// The last sequence number of this vault's own heads (8).
        static let sequence = "head-sequence"
        /// By carrier: the time (8) of the last head, and the digest of what it said (32).
        static let made = "head-made/"
        /// When a person wanted to see that the carriers work (8).
        static let asked = "head-asked"
        /// By member (8 hexadecimal digits), "/" and carrier: the last head.
        static let last = "head/"
    }

    /// The least time between two heads of a member, in seconds. Each member tells how far it has read all others: so
    /// what is written grows with the square of their number.
    static func interval(members: Int) -> TimeInterval {
        min(max(Double(members) * Double(members) / 25, 10), 900)
    }

    // MARK: This vault's own

    /// Has a head handed on if it says something new.
    ///
    /// - Parameter statement: What the carrier says.
    func tell(_ statement: Data, of carrier: String, _ making: CircleMaking) throws {
        guard carrier.utf8.count <= MemberHead.longestCarrier, statement.count <= MemberHead.longestStatement,
            let log = session.log, let member = session.member, log.present.count > 1,
            let key = try session.circleKey()
        else { return }
        let digest = (log.head + statement).sha256
        let now = HybridTime(making.now)
        if let last = try tables.state(State.made + carrier), last.count == 40 {
            guard Data(last.suffix(32)) != digest else { return }
            let age = making.now.timeIntervalSince(HybridTime(rawValue: UInt64(bigEndianBytes: last.prefix(8))).date)
            // A clock that was set back makes no head wait for years.
            guard age < 0 || age >= Self.interval(members: log.present.count) else { return }
        }
        let sequence = try ownSequence() + 1
        let head = try MemberHead(
            MemberHead.Body(
                time: now, entry: log.count - 1, digest: log.head, carrier: carrier, statement: statement),
            in: log.circle, member: member.number, sequence: sequence, under: key,
            signedBy: session.own.signer(in: session.keybag))
        try making.tables.set(State.sequence, Data(sequence.bigEndianBytes))
        try making.tables.set(State.made + carrier, Data(now.rawValue.bigEndianBytes) + digest)
        try making.hand(.head, key: Data(member.number.bigEndianBytes), head.encoded)
    }

    /// When this vault said something last, by its own clock; nil if it never did, or is to do so anew.
    func said() throws -> Date? {
        try tables.states(withPrefix: State.made).compactMap { Self.time($0.1) }.max()
    }

    private static func time(_ made: Data) -> Date? {
        made.count == 40 ? HybridTime(rawValue: UInt64(bigEndianBytes: made.prefix(8))).date : nil
    }

    /// Forgets what was said, so that the next statement makes a head.
    func tellAnew(_ making: CircleMaking) throws {
        for (name, _) in try tables.states(withPrefix: State.made) { try making.tables.set(name, nil) }
        // A change in any case, which wakes the carriers.
        try making.tables.set(State.asked, Data(HybridTime(making.now).rawValue.bigEndianBytes))
    }

    private func ownSequence() throws -> UInt64 {
        try tables.state(State.sequence).map { UInt64(bigEndianBytes: $0) } ?? 0
    }

    // MARK: Those of others

    /// Keeps a head if it is the member's last.
    func take(_ value: Data, _ making: CircleMaking) throws {
        let head = try MemberHead(decoding: value)
        guard let log = session.log, head.circle == log.circle, let member = log.member(head.member),
            let key = try session.circleKey()
        else { return }
        if head.member == session.number {
            // A vault that was restored from a copy goes on from there.
            guard try head.sequence > ownSequence() else { return }
            try head.check(signedBy: member.keys)
            return try making.tables.set(State.sequence, Data(head.sequence.bigEndianBytes))
        }
        let body = try head.open(under: key)
        let name = Self.name(of: head.member, body.carrier)
        if let known = try tables.state(name).map(MemberHead.init(decoding:)), known.sequence >= head.sequence {
            return
        }
        try head.check(signedBy: member.keys)
        try making.tables.set(name, value)
    }

    private static func name(of member: UInt32, _ carrier: String) -> String {
        State.last + Data(member.bigEndianBytes).hexadecimal() + "/" + carrier
    }

    /// The last heads of members that still are such, by carrier.
    ///
    /// - Parameter member: Nil for all.
    func known(of member: UInt32? = nil) throws -> [String: [CircleHead]] {
        guard let log = session.log, let key = try session.circleKey() else { return [:] }
        let prefix = member.map { State.last + Data($0.bigEndianBytes).hexadecimal() + "/" } ?? State.last
        var heads: [String: [CircleHead]] = [:]
        for (_, value) in try tables.states(withPrefix: prefix) {
            let head = try MemberHead(decoding: value)
            guard log.member(head.member) != nil, head.member != session.number else { continue }
            // Its signature was checked before it was stored.
            let body = try head.open(under: key)
            heads[body.carrier, default: []].append(
                CircleHead(
                    member: head.member, sequence: head.sequence, time: body.time.date, log: try relation(body, log),
                    statement: body.statement))
        }
        return heads
    }

    private func relation(_ body: MemberHead.Body, _ log: MembershipLog) throws -> CircleHead.Log {
        guard body.entry < log.count else { return .longer }
        if body.entry == log.count - 1 { return body.digest == log.head ? .known : .other }
        return try tables.log(at: body.entry)?.sha256 == body.digest ? .known : .other
    }
}
