import Access
import Frames

/// Replies what the circle's store decided about a proposal, and may take the proposal back.
///
/// What is taken back is handed to no carrier any more. A carrier that has it already may still bring it to the store:
/// then it arrives like any version that another member made, as with any commit whose answer was lost.
package struct AskProposal: UnaryOperation {
    package var proposal: CircleProposal
    /// Whether it is taken back unless it was decided.
    package var isWithdrawn: Bool

    package init(_ proposal: CircleProposal, isWithdrawn: Bool = false) {
        (self.proposal, self.isWithdrawn) = (proposal, isWithdrawn)
    }

    package typealias Reply = ProposalState

    package static let number: UInt8 = 57
    package static let name = "ask-proposal"
    package static let traits: OperationTraits = [.repeatable]

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        try engine.circle.ask(self, as: client)
    }

    package func encode(to buffer: FrameBuffer) { buffer.write(proposal, isWithdrawn) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self.init(try reader.read(), isWithdrawn: try reader.read())
    }
}

/// What became of a proposal.
package enum ProposalState: UInt8, Sendable, CaseIterable, WireValue {
    /// It was not decided yet.
    case pending
    /// It is in the store, and this vault has it.
    case accepted
    /// Another change came first, or the proposal was taken back.
    case refused
    /// Nobody knows: it was dropped, or the store accepted what this vault could not take.
    case undecided

    package func encode(to buffer: FrameBuffer) { buffer.write(rawValue) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self = try reader.coded("state of a proposal", Self.init(rawValue:))
    }
}
