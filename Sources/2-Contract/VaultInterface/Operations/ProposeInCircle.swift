import Access
import FoundationEssentials
import Frames
import KeychainModel

/// Has the circle's store decide about a change of an item: compare and swap among all members. Replies what is to be
/// asked about with ``AskProposal``.
///
/// Like ``ExchangeItem``, but it changes no item. The carrier of etcd takes the proposal to the store, which accepts it
/// only if no member changed the item meanwhile, and then gives the accepted version to the vault. A proposal that the
/// carrier does not get in time is dropped. One that it has got already may still be accepted; then it arrives like any
/// version that another member made.
package struct ProposeInCircle: UnaryOperation {
    /// The new value and the primary key; a nil value deletes.
    package var item: NewItem
    /// The value that the item must have; nil if there must be no such item.
    package var expected: Data?
    /// How long carriers may still get the proposal, in milliseconds; at most ``longest``.
    package var milliseconds: Int64

    package init(_ item: NewItem, expecting expected: Data?, within milliseconds: Int64) {
        (self.item, self.expected, self.milliseconds) = (item, expected, milliseconds)
    }

    /// The longest time for which a proposal waits, in milliseconds: a minute.
    package static let longest: Int64 = 60_000

    package typealias Reply = ProposalReply

    package static let number: UInt8 = 56
    package static let name = "propose-in-circle"
    package static let traits: OperationTraits = [.usesClassKeys]

    package var authentication: AuthenticationOptions? { item.authentication }
    package func check() throws(VaultError) { try RequestCheck.check(item) }

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        try engine.circle.propose(self, as: client)
    }

    package func encode(to buffer: FrameBuffer) { buffer.write(item, expected, milliseconds) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        item = try reader.read()
        expected = try reader.itemValue()
        milliseconds = try reader.read()
    }
}

/// What became of the wish to have the circle decide.
package enum ProposalReply: WireValue, Equatable {
    case proposed(CircleProposal)
    /// The item has another value than the expected one.
    case differs
    /// Another change of the item waits to be decided, or too many of this program do. It is to be tried again.
    case occupied
    case impossible(CircleObstacle)

    package func encode(to buffer: FrameBuffer) {
        switch self {
        case .proposed(let proposal): buffer.write(code: 0, proposal)
        case .differs: buffer.write(code: 1)
        case .occupied: buffer.write(code: 2)
        case .impossible(let obstacle): buffer.write(code: 3, obstacle.rawValue)
        }
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        switch try reader.integer() as UInt8 {
        case 0: self = .proposed(try reader.read())
        case 1: self = .differs
        case 2: self = .occupied
        case 3: self = .impossible(try reader.coded("obstacle", CircleObstacle.init(rawValue:)))
        default: throw FrameError("unknown reply to a proposal")
        }
    }
}

/// Why the circle of a vault can decide nothing about an item.
package enum CircleObstacle: UInt8, Sendable, CaseIterable {
    /// The vault is in no circle.
    case noCircle = 1
    /// It waits to be admitted, or was removed.
    case noMember
    /// It may not change items of the circle.
    case mayNotWrite
    /// The circle meets in a folder, where nobody decides.
    case folder
    /// The item stays on this device: it is not synchronizable, its class says so, or it has an access control.
    case itemStays
    /// The items of the access group do not travel.
    case groupStays
    /// The item is too large to travel.
    case tooLarge
}

/// A change of an item about which the circle's store decides.
package struct CircleProposal: WireValue, Equatable {
    /// The access group of the item.
    package var group: String
    /// The view and the name of the item in it, 16 bytes each.
    package var item: Data
    /// The version that the change makes, 12 bytes.
    package var version: Data

    package init(group: String, item: Data, version: Data) {
        (self.group, self.item, self.version) = (group, item, version)
    }

    package func encode(to buffer: FrameBuffer) { buffer.write(group, item, version) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        group = try reader.read()
        item = Data(try reader.counted(limit: 32))
        version = Data(try reader.counted(limit: 12))
    }
}
