import Bytes
import FoundationEssentials
import Frames

/// What other members report that this vault does not see. The key is the member that the finding is about.
package struct CircleFindings: Sendable, Equatable {
    package enum Finding: Sendable, Equatable {
        /// Another member has read changes of it that did not come here.
        case withheld(by: UInt32)
        /// It has written more itself than came here.
        case behind
        /// It has entries of the log that did not come here.
        case longerLog
        /// It has another entry of the log in the place of one that is here.
        case otherLog
        /// Another member was shown another history of its files.
        case otherHistory(at: UInt32)
        /// Another member has read more of this vault's files than this vault has written.
        case ownWentBack(by: UInt32)

        /// Whether the finding may end by itself, because data is only late.
        package var mayBeLate: Bool {
            switch self {
            case .withheld, .behind, .longerLog, .otherLog: true
            case .otherHistory, .ownWentBack: false
            }
        }

        /// - Parameter member: Whom it is about.
        package func text(_ member: UInt32) -> String {
            switch self {
            case .withheld(let other):
                "member \(other) has read changes of member \(member) that did not come here"
            case .behind: "member \(member) has written more than came here"
            case .longerLog: "member \(member) knows changes of the circle that did not come here"
            case .otherLog: "member \(member) has another list of members than this vault: the circle has come apart"
            case .otherHistory(let other):
                "member \(other) was shown another history of member \(member) than this vault: two machines write as member "
                    + "\(member), or somebody shows the two machines different folders"
            case .ownWentBack(let other):
                "member \(other) has read more of this vault's files than this vault has written: it was restored from an older "
                    + "copy, or a copy of it is in use. Run `keychain circle leave --only-here` here, and join again"
            }
        }
    }

    package var findings: [UInt32: Finding] = [:]
    /// When this vault first noticed each finding that may end by itself.
    package var since: [UInt32: Date] = [:]

    package init() {}

    /// Reads the findings of the carrier to etcd. They are the first part of the place that the vault keeps for it.
    package init(atBeginningOf place: Data?) {
        self.init()
        let buffer = FrameBuffer()
        buffer.appendRaw(place ?? Data())
        var reader = FrameReader(buffer)
        if let findings = try? CircleFindings(from: &reader) { self = findings }
    }

    /// How long data may be missing, in seconds, before that is an alarm.
    package static let patience: TimeInterval = 600

    /// Adds a finding. One that lasts replaces one that may end by itself.
    package mutating func note(_ finding: Finding, of member: UInt32) {
        if let present = findings[member], !present.mayBeLate || finding.mayBeLate { return }
        findings[member] = finding
    }

    /// Adds a finding if the member's log is longer than this vault's, or another one.
    package mutating func note(_ log: CircleHead.Log, of member: UInt32) {
        switch log {
        case .known: break
        case .longer: note(.longerLog, of: member)
        case .other: note(.otherLog, of: member)
        }
    }

    /// Keeps the first time of findings that continue, and sets `now` for new ones.
    package mutating func keepTimes(from before: [UInt32: Date], now: Date) {
        // As it is stored.
        let now = Date(milliseconds: now.milliseconds)
        since = findings.filter(\.value.mayBeLate).reduce(into: [:]) { $0[$1.key] = before[$1.key] ?? now }
    }

    /// The texts of findings that last, and of those that are older than ``patience``.
    package func alarms(at now: Date) -> [String] {
        findings.sorted { $0.key < $1.key }.filter { member, _ in
            since[member].map { now.timeIntervalSince($0) >= Self.patience } ?? true
        }.map { $0.value.text($0.key) }
    }
}

extension CircleFindings: WireValue {
    private static let most = 8_192

    package func encode(to buffer: FrameBuffer) {
        buffer.write(UInt32(clamping: min(findings.count, Self.most)))
        for (member, finding) in findings.sorted(by: { $0.key < $1.key }).prefix(Self.most) {
            let (code, other): (UInt8, UInt32) =
                switch finding {
                case .withheld(let other): (1, other)
                case .behind: (2, 0)
                case .longerLog: (3, 0)
                case .otherLog: (4, 0)
                case .otherHistory(let other): (5, other)
                case .ownWentBack(let other): (6, other)
                }
            buffer.write(member, code, other, since[member])
        }
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        let count: UInt32 = try reader.read()
        for _ in 0..<min(Int(clamping: count), Self.most) {
            let member: UInt32 = try reader.read()
            let (code, other, time): (UInt8, UInt32, Date?) = (try reader.read(), try reader.read(), try reader.read())
            switch code {
            case 1: findings[member] = .withheld(by: other)
            case 2: findings[member] = .behind
            case 3: findings[member] = .longerLog
            case 4: findings[member] = .otherLog
            case 5: findings[member] = .otherHistory(at: other)
            case 6: findings[member] = .ownWentBack(by: other)
            default: continue
            }
            since[member] = time
        }
    }
}

extension Date {
    /// Since 1970, rounded.
    package var milliseconds: Int64 { Int64(clamping: (timeIntervalSince1970 * 1_000).rounded()) }

    package init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1_000) }
}
