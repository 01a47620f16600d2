import Bytes
import Circle
import FoundationEssentials
import Items
import Keybag
import KeychainModel
import VaultInterface

/// What members do of themselves, without a person: they bring together what two of them changed at once, give views
/// new keys after somebody left, and admit whom an invitation admits.
struct CircleAgreement {
    private let making: CircleMaking

    private var session: CircleSession { making.session }
    private var tables: CircleWriter { making.tables }

    init(_ making: CircleMaking) { self.making = making }

    /// Does what is to be done. The vault is unlocked.
    ///
    /// - Parameter isCaughtUp: Whether the vault was given all that was in the store with the last entry of the log.
    /// - Returns: Whether a view waits for that, and gets new keys then.
    func run(isCaughtUp: Bool) throws -> Bool {
        guard session.standing == .member else { return false }
        try settleContested()
        try CircleAdmission(making).admitDisplaced()
        try settleHolders()
        let waits = try !renewKeys(isCaughtUp)
        try making.endRecovery(isRead: false)
        try CircleAdmission(making).admitUnattended()
        return waits
    }

    // MARK: At once

    /// Notes that an entry of this vault lost its place to one of another member: the view is to have the holders of
    /// both.
    static func note(
        _ lost: ViewEntry.Body, _ found: ViewEntry.Body, of view: Identifier16, _ tables: CircleWriter
    ) throws {
        // The number of a displaced admission is another vault's.
        let displaced = try CircleAdmission.displaced(tables.reader).map(\.admission.number)
        let holders = lost.holders.subtracting(displaced).union(found.holders).sorted().reduce(into: Data()) {
            $0 += Data($1.bigEndianBytes)
        }
        try tables.set(CircleSession.State.holders + view.description, holders)
    }

    /// Notes that another member gave a view new keys, too.
    ///
    /// - Parameter isLost: Whether the other member's number is the lower one: then this vault gives new keys again.
    static func note(contested view: Identifier16, _ generation: UInt32, isLost: Bool, _ tables: CircleWriter) throws {
        try tables.set(
            CircleSession.State.contested + view.description,
            Data(generation.bigEndianBytes) + [isLost ? 1 : 0])
    }

    private func views(
        named prefix: String
    ) throws -> [(state: String, held: CircleSession.HeldView, value: Data)] {
        let held = try session.heldViews().filter { try making.hasKeys($0.value) }
        return try tables.reader.states(withPrefix: prefix).compactMap { name, value in
            let digits = [UInt8](hexadecimal: name.dropFirst(prefix.count).utf8)
            return digits.flatMap { Identifier16($0) }.flatMap { held[$0] }.map { (name, $0, value) }
        }
    }

    /// Names the holders again that one of two entries named.
    private func settleHolders() throws {
        for (state, _, value) in try views(named: CircleSession.State.holders) {
            try tables.set(state, nil)
            for start in stride(from: 0, to: value.count - 3, by: 4) {
                let number = UInt32(bigEndianBytes: value.dropFirst(start).prefix(4))
                let digits = state.dropFirst(CircleSession.State.holders.count).utf8
                guard session.log?.member(number) != nil, session.member?.rights.contains(.views) == true,
                    let view = [UInt8](hexadecimal: digits).flatMap({ Identifier16($0) }),
                    let held = try session.heldViews()[view]
                else { continue }
                try making.admit(number, to: held)
            }
        }
    }

    /// Two members gave a view keys of the same generation. Neither opens what the other one sealed, so the one with
    /// the higher number gives it new keys, and both seal what they have.
    private func settleContested() throws {
        for (state, held, value) in try views(named: CircleSession.State.contested) where value.count == 5 {
            let generation = UInt32(bigEndianBytes: value.prefix(4))
            if held.entry.generation > generation {
                _ = try making.sealAnew(held, own: false)
            } else if value.last == 1 {
                _ = try making.renewKeys(of: held, generation: generation + 1)
            } else {
                continue
            }
            try tables.set(state, nil)
        }
    }

    // MARK: Keys

    /// A member that left still has keys, and so has a former recovery key: the first of those that may gives the views
    /// new ones.
    ///
    /// Who left may have written what nobody has read yet, and who removed a member may have given new keys already.
    ///
    /// - Returns: False if a view waits for new keys.
    private func renewKeys(_ isCaughtUp: Bool) throws -> Bool {
        guard let log = session.log, let member = session.member, member.rights.contains(.views) else { return true }
        var isDone = true
        for held in try session.heldViews().values {
            let first = held.body.holders.filter { log.member($0)?.rights.contains(.views) == true }.min()
            guard first == member.number else { continue }
            let gone = held.body.holders.filter { log.member($0) == nil }
            if let last = gone.compactMap({ log.members[$0]?.removed }).max() {
                if isCaughtUp { _ = try making.renewKeys(of: held, generation: last + 1) } else { isDone = false }
            } else if try making.hasKeys(held) {
                try making.giveToRecovery(held)
            }
        }
        return isDone
    }
}
