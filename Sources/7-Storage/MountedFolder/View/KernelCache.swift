import Dispatch
import Synchronization

/// The kernel's cache of files.
// Safe to share between threads: the session is used only within `lock`.
final class KernelCache: @unchecked Sendable {
    private let queue = DispatchQueue(label: "keychain.mount.cache")
    private let lock = Mutex(())
    private var session: (fuse: Fuse3, pointer: OpaquePointer)?

    func begin(_ fuse: Fuse3, _ session: OpaquePointer) {
        lock.withLock { _ in self.session = (fuse, session) }
    }

    /// Stops dropping. Later calls do nothing.
    func end() {
        queue.sync {}
        lock.withLock { _ in session = nil }
    }

    /// Makes the kernel write its changes of a file and drop its cache.
    ///
    /// Never call it on a request's thread: the kernel waits for the requests that it has already made.
    func drop(_ node: Node) {
        lock.withLock { _ in
            guard let session else { return }
            _ = session.fuse.invalidate(session.pointer, node.number, 0, 0)
        }
    }

    /// Does the same as ``drop(_:)`` on a separate thread.
    func dropLater(_ node: Node) {
        queue.async { self.drop(node) }
    }
}
