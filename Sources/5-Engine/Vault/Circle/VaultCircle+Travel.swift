import Access
import Bytes
import Circle
import FoundationEssentials
import Items
import Keybag
import KeychainModel
import VaultInterface

/// What travels between the vault and a carrier.
extension VaultCircle {
    func collect(
        _ operation: CollectCircleObjects, as client: Client, send: Sink<CircleObject>
    ) throws(VaultError) -> CollectedObjects {
        let authorization = try gate.authorize(AccessRequest(.synchronize), as: client, recordedAs: .inspected)
        return try gate.run(authorization) {
            guard try vault.reading(for: authorization, { reader, _ in try reader.circle.isThere }) else {
                return CollectedObjects(standing: .none)
            }
            let (parcels, reply) = try vault.writing(for: authorization) { writer, keybag in
                try collected(operation, writer, keybag)
            }
            for parcel in parcels {
                guard let kind = CircleObject.Kind(rawValue: parcel.kind) else { continue }
                try send(CircleObject(kind, key: parcel.key, value: parcel.value))
            }
            return reply
        }
    }

    private func collected(
        _ operation: CollectCircleObjects, _ writer: ItemStore.Writer, _ keybag: OpenedKeybag
    ) throws -> ([CircleParcel], CollectedObjects) {
        try writer.circle.removeOutgoing(through: operation.settled, except: CircleProposals.kind)
        guard let session = try self.session(writer.reader.circle, keybag) else {
            return ([], CollectedObjects(standing: .none))
        }
        let making = CircleMaking(session: session, writer: writer, logs: logs, now: now())
        var (hasMore, waitsForReading) = (false, false)
        if operation.isAnew, session.standing == .member { try making.handAnew() }
        // Nil if the vault wants to see everything once more.
        let name = CircleSession.State.place + operation.carrier
        if let place = operation.place, try writer.circle.reader.state(name) != nil {
            try writer.circle.set(name, place)
        }
        // Before the first unlocking nothing can be sealed, and what was sealed before can go.
        if operation.limit > 0, keybag.keys.lockState.permits(.afterFirstUnlock) {
            if let needs = try session.needs { throw VaultError.unsupported(reason: needs) }
            let intake = CircleIntake(making)
            if keybag.keys.lockState == .unlocked { try making.recover() }
            if session.standing == .member {
                try intake.take([], isCaughtUp: operation.isCaughtUp)
                waitsForReading = intake.waitsForReading
                let isRead = try writer.reader.circle.state(CircleSession.State.place + operation.carrier) != nil
                if keybag.keys.lockState == .unlocked { try making.endRecovery(isRead: isRead) }
                try CircleUpkeep(making).run()
            }
            hasMore = try CircleScan(making).run()
            if let statement = operation.statement, !hasMore {
                try CircleHeads(session: session).tell(statement, of: operation.carrier, making)
            }
        }
        let tables = writer.reader.circle
        let limit = max(0, min(operation.limit, CircleObject.most))
        var (parcels, bytes) = ([CircleParcel](), 0)
        for parcel in limit == 0 ? [] : try tables.outgoing(except: CircleProposals.kind, limit: limit) {
            bytes += parcel.value.count
            guard parcels.isEmpty || bytes <= CircleObject.largest else { break }
            parcels.append(parcel)
        }
        let isAll = try !tables.hasOutgoing(except: CircleProposals.kind, after: parcels.last?.number ?? 0)
        if isAll, parcels.isEmpty, session.standing == .removed, session.hasLeft { try writer.circle.clear() }
        var reply = CollectedObjects(
            standing: session.standing, circle: session.log?.circle.bytes, member: session.number ?? 0,
            through: parcels.last?.number ?? 0, hasMore: hasMore || !isAll,
            place: try tables.state(CircleSession.State.place + operation.carrier),
            location: String(decoding: try tables.state(CircleSession.State.location) ?? Data(), as: UTF8.self),
            lastMember: session.log.map { $0.nextNumber - 1 } ?? 0,
            answered: session.number == nil ? nil : try tables.state(CircleSession.State.asked))
        if keybag.keys.lockState.permits(.afterFirstUnlock) {
            reply.views = try session.heldViews().keys.sorted().map(\.bytes)
        }
        reply.waitsForReading = waitsForReading
        if operation.statement != nil, keybag.keys.lockState.permits(.afterFirstUnlock) {
            let heads = try CircleHeads(session: session).known()[operation.carrier] ?? []
            reply.heads = heads.count > CircleHead.most ? Array(heads.shuffled().prefix(CircleHead.most)) : heads
            reply.gone = session.log?.members.values.filter { $0.removed != nil }.map(\.number).sorted() ?? []
        }
        guard operation.carrier == CollectCircleObjects.etcd, isAll else { return (parcels, reply) }
        return (try parcels + CircleProposals(making).objects(limit - parcels.count, after: bytes), reply)
    }

    /// The most carriers whose places a vault keeps. Without a bound, a program that may synchronize could fill the
    /// disk with places.
    private static let mostCarriers = 4

    private func keep(_ place: Data, of carrier: String, _ tables: CircleWriter) throws {
        let name = CircleSession.State.place + carrier
        let known = try tables.reader.states(withPrefix: CircleSession.State.place).map(\.name)
        guard known.contains(name) || known.count < Self.mostCarriers else {
            throw VaultError.invalidRequest(reason: "a vault has at most \(Self.mostCarriers) carriers")
        }
        try tables.set(name, place)
    }

    func take(_ operation: TakeCircleObjects, as client: Client) throws(VaultError) -> TakenObjects {
        let authorization = try gate.authorize(AccessRequest(.synchronize), as: client, recordedAs: .written)
        return try gate.run(authorization, asking: .init(), items: \.changed) { _ in
            let standing: CircleStanding = try vault.reading(for: authorization) { reader, keybag in
                guard let session = try self.session(reader.circle, keybag) else { return .none }
                // Before the first unlocking nothing can be opened. The carrier keeps its place.
                try keybag.keys.checkAvailable(.afterFirstUnlockThisDeviceOnly)
                if let needs = try session.needs { throw VaultError.unsupported(reason: needs) }
                return session.standing
            }
            var result = TakenObjects()
            guard standing != .none else { return result }
            let ahead = try vault.reading(for: authorization) { reader, keybag in
                try session(reader.circle, keybag).flatMap { try RecordsAhead(operation.objects, $0) }
            }
            defer { ahead?.stop() }
            var (rest, isToBeReadAgain) = (operation.objects[...], false)
            repeat {
                // A vault that looks for its circle needs all entries at once.
                let slice = standing == .joining ? rest : rest.prefix(Self.slice)
                rest = rest.dropFirst(slice.count)
                let place = rest.isEmpty && !isToBeReadAgain ? operation.place : nil
                let taken: (result: TakenObjects, isToBeReadAgain: Bool, needs: String?)
                do {
                    taken = try vault.writing(for: authorization) { writer, keybag in
                        try take(slice, operation, place, ahead, writer, keybag)
                    }
                } catch {
                    // What was opened is not stored.
                    logs.tryAgain()
                    throw error
                }
                if let needs = taken.needs { throw VaultError.unsupported(reason: needs) }
                isToBeReadAgain = isToBeReadAgain || taken.isToBeReadAgain
                result.add(taken.result)
                if !rest.isEmpty { try CurrentCall.served?.giveWay() }
            } while !rest.isEmpty
            return result
        }
    }

    /// How many objects are taken in one transaction: others wait so long.
    private static let slice = 100

    private func take(
        _ objects: ArraySlice<CircleObject>, _ operation: TakeCircleObjects, _ place: Data?, _ ahead: RecordsAhead?,
        _ writer: ItemStore.Writer, _ keybag: OpenedKeybag
    ) throws -> (result: TakenObjects, isToBeReadAgain: Bool, needs: String?) {
        guard let session = try self.session(writer.reader.circle, keybag) else { return (TakenObjects(), false, nil) }
        let making = CircleMaking(session: session, writer: writer, logs: logs, now: now())
        let wasMember = session.standing == .member
        // What changed here has its version before others' versions are seen.
        if wasMember { while try CircleScan(making).run() {} }
        let intake = CircleIntake(making, isDecided: operation.isDecided, ahead)
        try intake.take(Array(objects))
        var result = intake.result
        result.standing = session.standing
        if let needs = intake.needs { return (result, false, needs) }
        // One that comes back with the recovery key has not read anything while it is given nothing.
        if session.isRecovering, objects.isEmpty { return (result, intake.isToBeReadAgain, nil) }
        // A vault that is only now a member, or that has new keys, reads everything once more.
        if session.standing != .joining, wasMember || session.standing == .removed, !intake.isToBeReadAgain, let place {
            try keep(place, of: operation.carrier, writer.circle)
        }
        return (result, intake.isToBeReadAgain, nil)
    }
}
