import VaultInterface

/// What the vault's lock does to the view.
extension View {
    /// Follows the vault. Not for a thread that answers requests.
    func follow(_ event: LockEvent) {
        switch event {
        case .unlocked: lockState.isLocked = false
        case .willLock: writeEverything()
        case .locked:
            // What programs have in memory that is shared with a file is written under the keys that go.
            writeEverything()
            lockState.isLocked = true
            let closed = nodes.all.filter { $0.contents?.discardKey() == true }
            for node in closed { cache.drop(node) }
        }
    }

    /// Has everything written that programs or the kernel changed.
    func writeEverything() {
        for node in nodes.all {
            guard let contents = node.contents, contents.isBeingWritten else { continue }
            cache.drop(node)
            try? contents.flush()
        }
    }
}
