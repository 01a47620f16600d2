import Bytes
import Circle
import Crypto
import FoundationEssentials
import Items
import Keybag
import KeychainModel
import VaultInterface

/// The recovery key of a circle: making it, and coming back with it when nobody is left.
extension VaultCircle {
    /// Makes the circle's recovery key, and returns it as it is written.
    func makeRecoveryKey(_ making: CircleMaking) throws -> SecretBytes {
        let (log, member) = try making.membership()
        guard member.rights.isSuperset(of: [.admit, .remove, .views]) else { throw CircleMaking.lacksRight }
        let key = try RecoveryKey.random()
        let recovery = try CircleRecovery(secret: key.secret, in: log.circle)
        // What changed here and was not told yet goes along under the new keys.
        while try CircleScan(making).run() {}
        try making.append(.recoveryKey(recovery.keys))
        try making.deliverCircleKey(to: CircleRecovery.number)
        for view in try making.session.heldViews().values { try making.giveToRecovery(view) }
        guard let text = try? SecretBytes(key.text) else { throw VaultError.memoryUnavailable }
        return text
    }

    /// Begins to come back: the vault looks for the circle that has this recovery key, and admits itself.
    ///
    /// - Parameter text: The key, as it was typed.
    func recover(
        _ text: SecretBytes, _ name: String, _ location: String, _ writer: ItemStore.Writer, _ keybag: OpenedKeybag
    ) throws {
        let key: RecoveryKey
        do {
            key = try text.withUnsafeBytes { try RecoveryKey(typed: $0) }
        } catch RecoveryKeyMistake.group(let number) {
            throw VaultError.invalidRequest(
                reason: "group \(number) of the recovery key has a typing error: compare it with what you wrote down")
        } catch {
            throw VaultError.invalidRequest(
                reason: "this is not a recovery key: one has 13 groups of five letters and digits from 2 to 7")
        }
        _ = try begin(name, location, writer, keybag)
        let sealed = try keybag.sealForCircle(key.secret, as: CircleSession.State.recovery, .whileUnlocked)
        try writer.circle.set(CircleSession.State.recovery, sealed)
    }
}

extension CircleSession {
    /// The recovery key, while this vault comes back with it.
    ///
    /// - Throws: ``KeybagError/locked(_:)``.
    func recovery(in circle: Identifier16) throws -> CircleRecovery? {
        if let recovery { return recovery }
        guard let sealed = try tables.state(State.recovery) else { return nil }
        let secret = try keybag.openForCircle(sealed, as: State.recovery, .whileUnlocked)
        recovery = try CircleRecovery(secret: secret, in: circle)
        return recovery
    }

    /// The member that made something of a generation of a view; nil if it counts for nothing.
    ///
    /// A vault that comes back also takes what a former member made, if nobody gave the view new keys since then. The
    /// former member may be the only one who made that item known.
    func maker(_ number: UInt32, of generation: UInt32) -> MembershipLog.Member? {
        if let member = log?.member(number) { return member }
        guard isRecovering, let gone = log?.members[number], let removed = gone.removed, generation <= removed else {
            return nil
        }
        return gone
    }

    /// The member that made a record under the present keys of a view; nil if it counts for nothing.
    ///
    /// Others may read what a member wrote after they know that it left. That counts until the view has new keys.
    func maker(of record: CircleRecord, _ held: HeldView) -> MembershipLog.Member? {
        if let maker = maker(record.sealer, of: record.generation) { return maker }
        guard let gone = log?.members[record.sealer], let left = gone.left, let removed = gone.removed,
            held.entry.generation <= removed, record.version.time <= left
        else { return nil }
        return gone
    }
}

extension CircleMaking {
    /// Admits this vault with the recovery key, once it has found the circle.
    func recover() throws {
        guard session.standing == .joining, session.isRecovering, var log = session.log,
            let recovery = try session.recovery(in: log.circle), recovery.keys == log.recovery
        else { return }
        let name = try tables.reader.state(CircleSession.State.name) ?? Data()
        // Without the circle's key, which may come later, this vault has no name for the others.
        let key = try circleKey(for: recovery, log)
        let entry = try log.entry(
            .recover(
                MembershipEntry.Recovery(
                    number: log.nextNumber, keys: session.own.keys,
                    sealedName: key.map { try $0.seal(name, in: log.circle) } ?? Data(),
                    formats: MembershipLog.formats)),
            signer: CircleRecovery.number, time: time(after: log.lastTime), signedBy: recovery.signer)
        try log.append(entry.encoded)
        try store(entry)
        session.logChanged(to: log)
    }

    /// The circle's key, if the recovery key opens it among what came.
    private func circleKey(for recovery: CircleRecovery, _ log: MembershipLog) throws -> CircleKey? {
        if let known = try session.circleKey() { return known }
        let kind = CircleObject.Kind.delivery.rawValue
        for parcel in try tables.reader.waiting(limit: .max) where parcel.kind == kind {
            guard let delivery = try? KeyDelivery(decoding: parcel.value), delivery.circle == log.circle,
                delivery.member == CircleRecovery.number, delivery.keyClass == .afterFirstUnlock,
                let contents = try? delivery.open(with: recovery.secrets(.afterFirstUnlock)), contents.view == .zero
            else { continue }
            let key = CircleKey(secret: contents.key)
            if key.commitment == log.keyCommitment { return key }
        }
        return nil
    }

    /// Seals the keys of a view for the recovery key. If there was another recovery key, the view gets new ones.
    func giveToRecovery(_ held: CircleSession.HeldView) throws {
        let (log, _) = try membership()
        let recovery = log.recovery?.fingerprint ?? ViewEntry.Body.noRecovery
        guard held.body.recovery != recovery else { return }
        guard held.body.recovery == ViewEntry.Body.noRecovery else {
            // The former recovery key opens what is there, and nothing that comes.
            _ = try renewKeys(of: held, generation: log.count)
            return
        }
        try deliver(held.identifier, held.entry.generation, to: CircleRecovery.number)
        var body = held.body
        body.recovery = recovery
        try putNext(body, of: held)
    }

    /// Makes this vault a holder of what the recovery key opened, and keeps nothing of that key.
    ///
    /// - Parameter isRead: Whether a carrier brought all that there is.
    func endRecovery(isRead: Bool) throws {
        guard session.isRecovering, session.standing == .member, let number = session.number else { return }
        for held in try session.heldViews().values where !held.body.holders.contains(number) {
            if try hasKeys(held) { try admit(number, to: held) }
        }
        guard isRead else { return }
        try tables.set(CircleSession.State.recovery, nil)
        session.endRecovery()
    }
}
