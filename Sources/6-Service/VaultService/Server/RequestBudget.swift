import Access
import Connections
import VaultInterface

/// A limit for the memory of long requests on their way in. Bytes that have arrived count, and not those announced.
///
/// All of them together have a limit, and so have those of a user and those of a program. A request that has begun
/// holds what has arrived while it waits for more, so that several could wait for each other for ever: of each limit,
/// room for one whole request is kept for the one that began first. That of all requests which began first therefore
/// never waits.
final class RequestBudget: Sendable {
    /// A long request that is being read.
    struct Claim: Sendable {
        fileprivate let number: UInt64
        fileprivate let caller: ServedProgram
        fileprivate var bytes = 0
    }

    private enum Sharing: CaseIterable {
        case all, ofUser, ofProgram

        func includes(_ claim: Claim, with other: Claim) -> Bool {
            switch self {
            case .all: true
            case .ofUser: claim.caller.user == other.caller.user
            case .ofProgram: claim.caller == other.caller
            }
        }

        func share(of bytes: Int) -> Int {
            switch self {
            case .all: bytes
            case .ofUser: bytes / 2
            case .ofProgram: bytes / 4
            }
        }
    }

    private let bytes: Int
    private let wholeRequest: Int
    private let state = Monitor(State())

    private struct State {
        var claims: [UInt64: Claim] = [:]
        var lastNumber: UInt64 = 0
    }

    /// - Parameters:
    ///   - bytes: How much all requests may take.
    ///   - wholeRequest: How much the longest takes.
    init(bytes: Int, wholeRequest: Int = WireLimits.frame) {
        self.bytes = bytes
        self.wholeRequest = wholeRequest
    }

    func begin(_ caller: ServedProgram) -> Claim {
        state.withLock { state in
            state.lastNumber += 1
            let claim = Claim(number: state.lastNumber, caller: caller)
            state.claims[claim.number] = claim
            return claim
        }
    }

    /// Waits until `claim` may take so many bytes in all.
    ///
    /// - Returns: Whether there was room in time.
    func reserve(_ total: Int, for claim: Claim, within time: Duration) -> Bool {
        state.wait(until: .now + time) { state in
            let more = total - (state.claims[claim.number]?.bytes ?? 0)
            guard more > 0 else { return true }
            guard hasRoom(for: more, claim, beside: state.claims.values) else { return false }
            state.claims[claim.number]?.bytes = total
            return true
        }
    }

    func end(_ claim: Claim) {
        state.change { $0.claims[claim.number] = nil }
    }

    private func hasRoom(for more: Int, _ claim: Claim, beside claims: some Collection<Claim>) -> Bool {
        Sharing.allCases.allSatisfy { sharing in
            let others = claims.filter { sharing.includes($0, with: claim) }
            guard let first = others.map(\.number).min(), first != claim.number else { return true }
            let taken = others.reduce(0) { $1.number == first ? $0 : $0 + $1.bytes }
            return taken + more <= max(0, sharing.share(of: bytes) - wholeRequest)
        }
    }
}
