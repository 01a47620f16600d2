import CFuse3
import CLibrary
import Synchronization
import VaultInterface

/// The nodes that the kernel knows.
// Safe to share between threads: the members that change are used only within `lock`.
final class NodeTable: @unchecked Sendable {
    /// `FUSE_ROOT_ID` (linux/fuse.h).
    static let rootNumber: UInt64 = 1

    private let keys: any FileKeySource
    private let lockState: KnownLockState
    private let lock = Mutex(())
    private var byNumber: [UInt64: Node] = [:]
    private var byIdentity: [FileIdentity: Node] = [:]
    private var last = NodeTable.rootNumber

    /// - Parameter descriptor: The folder below. The table closes it.
    init(root descriptor: Int32, keys: any FileKeySource, lockState: KnownLockState) throws(Errno) {
        (self.keys, self.lockState) = (keys, lockState)
        var information = stat()
        guard fstat(descriptor, &information) == 0 else { throw .last }
        let root = Node(Self.rootNumber, descriptor, information, keys: keys, lockState: lockState)
        // The kernel never forgets the root.
        root.lookups = 1
        (byNumber[root.number], byIdentity[root.identity]) = (root, root)
    }

    subscript(number: UInt64) -> Node {
        get throws(Errno) {
            guard let node = lock.withLock({ _ in byNumber[number] }) else { throw Errno(ESTALE) }
            return node
        }
    }

    var all: [Node] { lock.withLock { _ in Array(byNumber.values) } }

    /// Returns the node of a file below, and counts that the kernel is told of it.
    ///
    /// - Parameter descriptor: Refers to the file. It is closed unless a new node keeps it.
    func add(_ descriptor: Int32) throws(Errno) -> Node {
        var information = stat()
        guard fstat(descriptor, &information) == 0 else {
            defer { close(descriptor) }
            throw .last
        }
        let identity = FileIdentity(information)
        return lock.withLock { _ in
            if let node = byIdentity[identity] {
                close(descriptor)
                node.lookups += 1
                return node
            }
            last += 1
            let node = Node(last, descriptor, information, keys: keys, lockState: lockState)
            node.lookups = 1
            (byNumber[node.number], byIdentity[identity]) = (node, node)
            return node
        }
    }

    func forget(_ number: UInt64, _ count: UInt64) {
        lock.withLock { _ in
            guard let node = byNumber[number], number != Self.rootNumber else { return }
            node.lookups -= min(count, node.lookups)
            guard node.lookups == 0 else { return }
            byNumber[number] = nil
            byIdentity[node.identity] = nil
        }
    }
}
