import FoundationEssentials
import Frames

/// Something that travels between the members of a circle, as a carrier sees it: sealed or signed, so that a carrier
/// needs no key and learns no name. Documentation/Specify/Formats/Circle.md specifies what each kind holds.
package struct CircleObject: WireValue, Hashable {
    package enum Kind: UInt8, Sendable, CaseIterable {
        /// A version of an item. Key: view (16), name of the item (16).
        case record = 1
        /// An entry of the log. Key: its number (4).
        case entry
        /// A key for a member. Key: number of the member (4), 16 random bytes.
        case delivery
        /// An entry of a view's chain. Key: view (16), generation (4), number (4).
        case viewEntry
        /// The certificate of a key that signs records. Key: number of the member (4), serial number (2).
        case certificate
        /// The request of a vault that was invited. Key: 16 random bytes.
        case request
        /// What a member says of how far it has got. Key: number of the member (4).
        case head
        /// A version of an item that the store accepts only if no other came first; of it, a carrier gives back what
        /// was decided. Key: view (16), name of the item (16), version before (12), zeros if there is none. No other
        /// member gets one.
        case proposal
    }

    package var kind: Kind
    package var key: Data
    package var value: Data

    package init(_ kind: Kind, key: Data, value: Data) { (self.kind, self.key, self.value) = (kind, key, value) }

    /// The longest key of an object.
    package static let longestKey = 44
    /// The longest value of an object, and of all objects of one operation together.
    package static let largest = 1 << 20
    /// The most objects of one operation.
    package static let most = 1_000

    /// Divides objects into parts that one operation takes each.
    package static func parts(of objects: [CircleObject]) -> [ArraySlice<CircleObject>] {
        var (parts, begin, bytes): ([ArraySlice<CircleObject>], Int, Int) = ([], 0, 0)
        for (number, object) in objects.enumerated() {
            if number - begin == most || (number > begin && bytes + object.value.count > largest) {
                parts.append(objects[begin..<number])
                (begin, bytes) = (number, 0)
            }
            bytes += object.value.count
        }
        return begin < objects.count ? parts + [objects[begin...]] : parts
    }

    package func encode(to buffer: FrameBuffer) { buffer.write(code: kind.rawValue, key, value) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        kind = try reader.coded("kind of object", Kind.init(rawValue:))
        key = Data(try reader.counted(limit: Self.longestKey))
        value = Data(try reader.counted(limit: Self.largest))
    }
}

/// What a vault is to a circle.
package enum CircleStanding: UInt8, Sendable, WireValue {
    /// It never was in one, or left it.
    case none
    /// It was invited, and waits for a member to admit it.
    case joining
    case member
    /// It was removed. Its items stay, and nothing goes to the others or comes from them.
    case removed

    package func encode(to buffer: FrameBuffer) { buffer.write(rawValue) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self = try reader.coded("standing", Self.init(rawValue:))
    }
}

/// A circle as one of its members knows it.
package struct CircleStatus: WireValue, Equatable {
    package var standing: CircleStanding
    /// The 16 bytes that name the circle; nil without one, and while joining until the circle is found.
    package var circle: Data?
    /// The number of this vault; 0 unless it is a member.
    package var number: UInt32 = 0
    /// The SHA-256 digest of this vault's public keys, to be compared by people; empty without a circle.
    package var fingerprint = Data()
    /// Where carriers meet, such as `folder:/home/alice/Sync`.
    package var location = ""
    package var members: [CircleMember] = []
    package var views: [CircleView] = []
    /// Access groups that other members offer, and whose items do not travel here.
    package var offers: [String] = []
    package var requests: [CircleRequest] = []
    package var invitations: [CircleInvitation] = []
    /// How many objects wait to be taken: for the unlocking, or for something that has to come first.
    package var waiting = 0
    /// How many objects wait to be handed on.
    package var outgoing = 0
    /// How many versions lost against others, and were not looked at yet.
    package var conflicts = 0
    /// How many items are too large to travel.
    package var tooLarge = 0
    /// Whether the circle has a recovery key.
    package var hasRecoveryKey = false
    /// Whether the vault asks to come back with the recovery key.
    package var isRecovering = false
    /// When this vault told the others last how far it has got; nil if it did not, or is to do so anew.
    package var said: Date?
    /// Why nothing travels here any more: the circle needs later software. Nil while it does not.
    package var needs: String?

    package init(_ standing: CircleStanding, circle: Data? = nil) { (self.standing, self.circle) = (standing, circle) }

    package func encode(to buffer: FrameBuffer) {
        buffer.write(standing, circle, number, fingerprint, location)
        buffer.write(list: members)
        buffer.write(list: views)
        buffer.write(list: offers)
        buffer.write(list: requests)
        buffer.write(list: invitations)
        buffer.write(waiting, outgoing, conflicts, tooLarge, hasRecoveryKey, needs, isRecovering, said)
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self.init(try reader.read(), circle: try reader.read())
        number = try reader.read()
        fingerprint = try reader.read()
        location = try reader.read()
        members = try reader.list(limit: .max)
        views = try reader.list(limit: .max)
        offers = try reader.list(limit: .max)
        requests = try reader.list(limit: .max)
        invitations = try reader.list(limit: .max)
        (waiting, outgoing) = (try reader.read(), try reader.read())
        (conflicts, tooLarge) = (try reader.read(), try reader.read())
        (hasRecoveryKey, needs) = (try reader.read(), try reader.read())
        (isRecovering, said) = (try reader.read(), try reader.read())
    }
}

/// A member of a circle.
package struct CircleMember: WireValue, Equatable {
    package var number: UInt32
    /// Nil before the first unlocking, which opens names.
    package var name: String?
    /// 1 admit, 2 remove, 4 views, 8 write.
    package var rights: UInt8
    package var fingerprint: Data
    package var isRemoved: Bool
    /// Whether a TPM attested its keys when it was admitted.
    package var isAttested: Bool
    /// The invitation with which it came; nil for one that needed none.
    package var invitation: Data?
    /// What it said last, by carrier; nothing before the first unlocking, and of this vault itself.
    package var heads: [String: CircleHead] = [:]

    package init(
        number: UInt32, name: String?, rights: UInt8, fingerprint: Data, isRemoved: Bool, isAttested: Bool = false,
        invitation: Data? = nil
    ) {
        (self.number, self.name, self.rights, self.fingerprint) = (number, name, rights, fingerprint)
        (self.isRemoved, self.isAttested, self.invitation) = (isRemoved, isAttested, invitation)
    }

    package func encode(to buffer: FrameBuffer) {
        buffer.write(number, name, rights, fingerprint, isRemoved, isAttested, invitation)
        buffer.append(list: heads.sorted { $0.key < $1.key }) { buffer.write($0.key, $0.value) }
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self.init(
            number: try reader.read(), name: try reader.read(), rights: try reader.read(),
            fingerprint: try reader.read(), isRemoved: try reader.read(), isAttested: try reader.read(),
            invitation: try reader.read())
        let heads = try reader.list(limit: 64) { (reader) throws(FrameError) -> (String, CircleHead) in
            (try reader.read(), try reader.read())
        }
        self.heads = Dictionary(heads) { first, _ in first }
    }
}

/// An access group whose synchronizable items travel.
package struct CircleView: WireValue, Equatable {
    package var group: String
    package var generation: UInt32
    /// The numbers of the members that hold it.
    package var holders: [UInt32]
    /// How many items this vault knows in it, deleted ones included.
    package var items: Int

    package init(group: String, generation: UInt32, holders: [UInt32], items: Int) {
        (self.group, self.generation, self.holders, self.items) = (group, generation, holders, items)
    }

    package func encode(to buffer: FrameBuffer) {
        buffer.write(group, generation)
        buffer.write(list: holders)
        buffer.write(items)
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self.init(
            group: try reader.read(), generation: try reader.read(), holders: try reader.list(limit: .max),
            items: try reader.read())
    }
}

/// The request of a vault that was invited and waits to be admitted.
package struct CircleRequest: WireValue, Equatable {
    /// What names the request: 16 bytes.
    package var identifier: Data
    /// What the machine calls itself.
    package var name: String
    package var fingerprint: Data
    /// The name of the TPM's attestation key, if the invitation asks for an attestation.
    package var attester: Data?
    /// Who issued the certificate that the TPM has of its maker, which nobody checked; nil if it has none.
    package var maker: String?

    package init(identifier: Data, name: String, fingerprint: Data, attester: Data? = nil, maker: String? = nil) {
        (self.identifier, self.name, self.fingerprint) = (identifier, name, fingerprint)
        (self.attester, self.maker) = (attester, maker)
    }

    package func encode(to buffer: FrameBuffer) { buffer.write(identifier, name, fingerprint, attester, maker) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self.init(
            identifier: try reader.read(), name: try reader.read(), fingerprint: try reader.read(),
            attester: try reader.read(), maker: try reader.read())
    }
}

/// An invitation that is open.
package struct CircleInvitation: WireValue, Equatable {
    package var identifier: Data
    /// How many members it still admits.
    package var left: UInt16
    package var deadline: Date
    package var rights: UInt8
    /// 1 if a TPM has to attest the keys, 2 if a member admits without a person.
    package var flags: UInt8
    /// The access groups that it gives; empty if a person decides, and before the first unlocking.
    package var groups: [String]

    package init(
        identifier: Data, left: UInt16, deadline: Date, rights: UInt8, flags: UInt8 = 0, groups: [String] = []
    ) {
        (self.identifier, self.left, self.deadline, self.rights) = (identifier, left, deadline, rights)
        (self.flags, self.groups) = (flags, groups)
    }

    package func encode(to buffer: FrameBuffer) {
        buffer.write(identifier, left, deadline, rights, flags)
        buffer.write(list: groups)
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self.init(
            identifier: try reader.read(), left: try reader.read(), deadline: try reader.read(),
            rights: try reader.read(), flags: try reader.read(), groups: try reader.list(limit: WireLimits.accessGroups)
        )
    }
}
