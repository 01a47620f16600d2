import Bytes
import Foundation
import TestSupport
import VaultInterface

/// Samples of what is said of a circle.
extension WireSamples {
    mutating func circleChange() throws -> ChangeCircle.Change {
        switch random.int(below: 14) {
        case 0: .create(name: string(), groups: [string(), string()], location: string())
        case 1:
            .invite(
                count: 7, seconds: anyNumber(), rights: 15, flags: 3, groups: [string()],
                attesters: [random.bytes(34)])
        case 2:
            .join(
                secret: try random.bytes(16).withUnsafeBytes { try SecretBytes(copying: $0) }, name: string(),
                location: string(), groups: [string()])
        case 3: .approve(request: random.bytes(16), groups: maybe { [$0.string()] })
        case 4: .refuse(request: random.bytes(16))
        case 5: .remove(member: 9)
        case 6: .leave
        case 11: .forget
        case 7: .addView(group: string())
        case 8: .end(invitation: random.bytes(16))
        case 9: .makeRecoveryKey
        case 12: .tell
        case 10:
            .recover(
                key: try random.bytes(77).withUnsafeBytes { try SecretBytes(copying: $0) }, name: string(),
                location: string())
        default: .move(location: string())
        }
    }

    mutating func circleChanged() throws -> CircleChanged {
        CircleChanged(
            secret: try maybe { $0.random.bytes(16) }.map { try $0.withUnsafeBytes { try SecretBytes(copying: $0) } },
            member: 3, items: random.int(below: 99))
    }

    mutating func circleObject() -> CircleObject {
        let kinds = CircleObject.Kind.allCases
        return CircleObject(
            kinds[random.int(below: kinds.count)], key: random.bytes(random.int(below: 45)),
            value: random.bytes(random.int(below: 99)))
    }

    mutating func circleProposal() -> CircleProposal {
        CircleProposal(group: string(), item: random.bytes(32), version: random.bytes(12))
    }

    mutating func proposalReply() -> ProposalReply {
        switch random.int(below: 4) {
        case 0: .proposed(circleProposal())
        case 1: .differs
        case 2: .occupied
        default: .impossible(CircleObstacle.allCases[random.int(below: CircleObstacle.allCases.count)])
        }
    }

    mutating func circleHead() -> CircleHead {
        CircleHead(
            member: 3, sequence: 77, time: date(), log: [.known, .longer, .other][random.int(below: 3)],
            statement: random.bytes(random.int(below: 99)))
    }

    mutating func collectedObjects() -> CollectedObjects {
        var collected = CollectedObjects(
            standing: standing(), circle: maybe { $0.random.bytes(16) }, member: 7, through: anyNumber(),
            hasMore: bool(), place: maybe { $0.random.bytes(48) }, location: string(), lastMember: 9,
            answered: maybe { $0.random.bytes(16) })
        collected.heads = (0..<random.int(below: 3)).map { _ in circleHead() }
        collected.gone = [4, 8]
        collected.views = [random.bytes(16)]
        collected.waitsForReading = bool()
        return collected
    }

    mutating func standing() -> CircleStanding {
        [.none, .joining, .member, .removed][random.int(below: 4)]
    }

    mutating func takenObjects() -> TakenObjects {
        var taken = TakenObjects()
        (taken.changed, taken.conflicts, taken.waiting) = (1, random.int(below: 9), 3)
        (taken.refused, taken.reasons, taken.standing) = (random.int(below: 9), [string(), string()], standing())
        return taken
    }

    mutating func circleStatus() -> CircleStatus {
        var status = CircleStatus(standing(), circle: maybe { $0.random.bytes(16) })
        (status.isRecovering, status.said) = (bool(), maybe { $0.date() })
        (status.number, status.fingerprint, status.location) = (4, random.bytes(32), string())
        status.members = [
            CircleMember(
                number: 1, name: maybe { $0.string() }, rights: 15, fingerprint: random.bytes(32), isRemoved: bool(),
                isAttested: bool(), invitation: maybe { $0.random.bytes(16) })
        ]
        status.views = [CircleView(group: string(), generation: 2, holders: [1, 7], items: random.int(below: 99))]
        status.offers = [string()]
        status.requests = [
            CircleRequest(
                identifier: random.bytes(16), name: string(), fingerprint: random.bytes(32),
                attester: maybe { $0.random.bytes(34) }, maker: maybe { $0.string() })
        ]
        status.invitations = [
            CircleInvitation(
                identifier: random.bytes(16), left: 3, deadline: date(), rights: 8, flags: 3, groups: [string()])
        ]
        status.members[0].heads = [string(): circleHead()]
        (status.waiting, status.outgoing, status.conflicts) = (random.int(below: 9), random.int(below: 9), 1)
        status.tooLarge = random.int(below: 9)
        (status.hasRecoveryKey, status.needs) = (bool(), maybe { $0.string() })
        return status
    }
}
