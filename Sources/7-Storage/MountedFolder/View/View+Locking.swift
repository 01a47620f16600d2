import CLibrary
import Synchronization
import VaultInterface

/// The effects of the vault's lock on the view.
extension View {
    /// Handles a lock event of the vault. Never call it on a request's thread.
    func follow(_ event: LockEvent) {
        switch event {
        case .unlocked: lockState.isLocked = false
        case .willLock: writeEverything()
        case .locked:
            lockState.isLocked = true
            close()
        }
    }

    private func close() {
        // First the files without unwritten data, which wait for nothing.
        var (dropped, rest): ([Node], [Node]) = ([], [])
        for node in nodes.all {
            guard let isClosed = node.contents?.discardKeyIfIdle() else {
                rest.append(node)
                continue
            }
            if isClosed { dropped.append(node) }
        }
        for node in dropped { cache.drop(node) }
        // Changes in memory that a program shares with a file are written with the keys before these are discarded.
        var canWrite = true
        for node in rest {
            guard let contents = node.contents else { continue }
            if canWrite, contents.isBeingWritten { canWrite = write(node) }
            if contents.discardKey(writing: canWrite) { cache.drop(node) }
        }
    }

    /// Writes all changes of programs and of the kernel.
    func writeEverything() {
        for node in nodes.all where node.contents?.isBeingWritten == true {
            guard write(node) else { return }
        }
    }

    /// - Returns: Whether to try other files. A program that may only read the files below can lock one of them, and
    ///   then probably all. The vault's lock does not wait for each.
    private func write(_ node: Node) -> Bool {
        cache.drop(node)
        do throws(Errno) {
            try node.contents?.flush()
            return true
        } catch {
            return error.code != EBUSY
        }
    }
}

/// The lock state of the vault, according to the last event.
final class KnownLockState: Sendable {
    private let locked = Atomic<Bool>(false)

    var isLocked: Bool {
        get { locked.load(ordering: .acquiring) }
        set { locked.store(newValue, ordering: .releasing) }
    }
}
