import Bytes
import FoundationEssentials
import KeychainModel

/// A change of an item about which the circle's store decides, as a program makes it: proposes, and asks until it is
/// decided.
///
/// Each step is a call of the vault. In between the caller waits as it likes: it blocks a thread, or suspends a task.
package struct CircleExchange: Sendable {
    package enum Outcome: Sendable, Equatable {
        /// The change is in force in the circle.
        case exchanged
        /// The item has another value here than the expected one.
        case differs
        /// Another member's change came first, or new keys of the group did; this vault has that, or will have it soon.
        case refused
        /// The store did not decide in time, and the change was taken back; or nobody knows what it decided. It may
        /// still arrive if a carrier had it.
        case undecided
        case impossible(CircleObstacle)
    }

    package enum Step: Sendable, Equatable {
        /// The next step is due after this time.
        case wait(Duration)
        case done(Outcome)
    }

    /// How long the store may take to decide.
    @TaskLocal package static var patience: Duration = .seconds(10)

    /// A random time, which a program waits after a refusal before it tries again. Programs that try again at once
    /// meet each other again.
    package static var pause: Duration { .milliseconds(Int.random(in: 1...100)) }

    private let item: NewItem
    private let expected: Data?
    private let deadline: ContinuousClock.Instant
    private var proposal: CircleProposal?
    private var waits = 0

    package init(_ item: NewItem, expecting expected: Data?, patience: Duration = CircleExchange.patience) {
        (self.item, self.expected, deadline) = (item, expected, .now + patience)
    }

    /// Goes on.
    ///
    /// - Throws: What the vault throws. A proposal that was made is then dropped at its deadline, unless the store
    ///   accepts it before.
    package mutating func step(_ session: VaultSession) throws(VaultError) -> Step {
        let left = deadline - .now
        if let proposal {
            switch try session.perform(AskProposal(proposal, isWithdrawn: left <= .zero)) {
            case .accepted: return .done(.exchanged)
            case .refused: return .done(left <= .zero ? .undecided : .refused)
            case .undecided: return .done(.undecided)
            case .pending: return .wait(nextWait)
            }
        }
        guard left > .zero else { return .done(.undecided) }
        let milliseconds = Int64(clamping: (left / .milliseconds(1)).rounded(.up))
        switch try session.perform(
            ProposeInCircle(item, expecting: expected, within: min(milliseconds, ProposeInCircle.longest)))
        {
        case .proposed(let made):
            proposal = made
            return .wait(nextWait)
        case .differs: return .done(.differs)
        case .occupied: return .wait(nextWait)
        case .impossible(let obstacle): return .done(.impossible(obstacle))
        }
    }

    /// Takes the change back, unless it was decided.
    package func withdraw(_ session: VaultSession) {
        if let proposal { _ = try? session.perform(AskProposal(proposal, isWithdrawn: true)) }
    }

    /// Most are decided within some milliseconds.
    private var nextWait: Duration {
        mutating get {
            defer { waits += 1 }
            return .milliseconds([2, 5, 10, 20, 50][min(waits, 4)])
        }
    }
}
