import Glibc
import VaultInterface

/// What the vault's lock does to the view.
extension View {
    /// Follows the vault. Not for a thread that answers requests.
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
        // First what has nothing to be written, and so waits for nobody.
        var (dropped, rest): ([Node], [Node]) = ([], [])
        for node in nodes.all {
            guard let isClosed = node.contents?.discardKeyIfIdle() else {
                rest.append(node)
                continue
            }
            if isClosed { dropped.append(node) }
        }
        for node in dropped { cache.drop(node) }
        // What programs have in memory that is shared with a file is written under the keys that go.
        var canWrite = true
        for node in rest {
            guard let contents = node.contents else { continue }
            if canWrite, contents.isBeingWritten { canWrite = write(node) }
            if contents.discardKey(writing: canWrite) { cache.drop(node) }
        }
    }

    /// Has everything written that programs or the kernel changed.
    func writeEverything() {
        for node in nodes.all where node.contents?.isBeingWritten == true {
            guard write(node) else { return }
        }
    }

    /// - Returns: Whether it is worth trying others: somebody who keeps one file below to himself, who only has to be
    ///   allowed to read it, may keep all of them, and the lock does not wait for each.
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
