import CFuse3
import Dispatch
import Synchronization

/// What the kernel keeps of files.
// Safe to share between threads: the session is used only within `lock`.
final class KernelCache: @unchecked Sendable {
    private let queue = DispatchQueue(label: "keychain.mount.cache")
    private let forgetting = DispatchQueue(label: "keychain.mount.forgetting")
    private let lock = Mutex(())
    private var session: (fuse: Fuse3, pointer: OpaquePointer)?

    func begin(_ fuse: Fuse3, _ session: OpaquePointer) {
        lock.withLock { _ in self.session = (fuse, session) }
    }

    /// Nothing is dropped any more.
    func end() {
        queue.sync {}
        forgetting.sync {}
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

    /// Has the kernel forget a name, and with it the file unless that is in use otherwise. Never for a request's thread.
    func forget(_ name: [UInt8], in folder: UInt64) {
        let name = name.map(CChar.init(bitPattern:)) + [0]
        lock.withLock { _ in
            guard let session else { return }
            _ = session.fuse.forgetName(session.pointer, folder, name, name.count - 1)
        }
    }

    /// Runs `body` on the thread for forgetting.
    func later(_ body: @escaping @Sendable () -> Void) { forgetting.async(execute: body) }
}
