import CFuse3
import Dispatch
import Synchronization

/// What the kernel keeps of files.
// Safe to share between threads: the session is used only within `lock`.
final class KernelCache: @unchecked Sendable {
    private let queue = DispatchQueue(label: "keychain.mount.cache")
    private let lock = Mutex(())
    private var session: (fuse: Fuse3, pointer: OpaquePointer)?

    func begin(_ fuse: Fuse3, _ session: OpaquePointer) {
        lock.withLock { _ in self.session = (fuse, session) }
    }

    /// Nothing is dropped any more.
    func end() {
        queue.sync {}
        lock.withLock { _ in session = nil }
    }

    /// Has the kernel write what it has of a file, and forget it.
    ///
    /// Never for a request's thread: the kernel waits for requests that it has already made.
    func drop(_ node: Node) {
        lock.withLock { _ in
            guard let session else { return }
            _ = session.fuse.invalidate(session.pointer, node.number, 0, 0)
        }
    }

    /// As ``drop(_:)``, on a thread of its own.
    func dropLater(_ node: Node) {
        queue.async { self.drop(node) }
    }
}
