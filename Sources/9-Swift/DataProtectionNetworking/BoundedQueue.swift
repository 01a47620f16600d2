import Dispatch
import Foundation

/// A delegate's queue that makes a transfer wait for its delegate.
///
/// Foundation on Linux hands over each piece that arrives, of 16 KiB at most, and reads on at once: what the delegate has not
/// written yet would fill the memory. A transfer that has to wait lets the server wait.
// Safe to share between threads: it has no state but the semaphore, and `OperationQueue` is made to be shared.
final class BoundedQueue: OperationQueue, @unchecked Sendable {
    private let room = DispatchSemaphore(value: 64)

    override init() {
        super.init()
        maxConcurrentOperationCount = 1
    }

    override func addOperation(_ block: @escaping @Sendable () -> Void) {
        room.wait()
        super.addOperation { [room] in
            block()
            room.signal()
        }
    }
}
