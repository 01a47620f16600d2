import Dispatch
import Foundation
import Synchronization

/// A delegate's queue that makes a transfer wait for its delegate.
///
/// Foundation on Linux hands over each piece that arrives, of 16 KiB at most, and reads on at once: what the delegate
/// has not written yet would fill the memory. A transfer that has to wait lets the server wait.
// Safe to share between threads: its state is a semaphore and an atomic, and `OperationQueue` is made to be shared.
final class BoundedQueue: OperationQueue, @unchecked Sendable {
    private let room = DispatchSemaphore(value: 64)
    private let isOver = Atomic(false)

    override init() {
        super.init()
        maxConcurrentOperationCount = 1
    }

    override func addOperation(_ block: @escaping @Sendable () -> Void) {
        guard !isOver.load(ordering: .acquiring) else { return block() }
        room.wait()
        super.addOperation { [room] in
            block()
            room.signal()
        }
    }

    /// From now on nothing waits: the transfer's thread runs what is added, at once. For a delegate that is done with
    /// the transfer, and throws away what still arrives.
    func endTransfer() { isOver.store(true, ordering: .releasing) }

    /// Adds what is not part of the transfer, behind what has arrived. It never waits.
    func addUnbounded(_ block: @escaping @Sendable () -> Void) { super.addOperation(block) }
}
