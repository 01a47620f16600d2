import CFuse3
import Glibc
import ProtectedFiles
import Synchronization
import VaultInterface

/// What the kernel knows of.
// Safe to share between threads: what changes is used only within `lock`.
final class NodeTable: @unchecked Sendable {
    /// `FUSE_ROOT_ID` (linux/fuse.h).
    static let rootNumber: UInt64 = 1

    private let keys: any FileKeySource
    private let lockState: LockState
    private let lock = Mutex(())
    private var byNumber: [UInt64: Node] = [:]
    private var byIdentity: [NodeIdentity: Node] = [:]
    private var last = NodeTable.rootNumber
    private let known = Atomic<Int>(1)
    /// Three quarters of the descriptors that this process may have, since each node has one.
    private let limit: Int

    /// - Parameter descriptor: Of the folder below, which the table closes.
    init(root descriptor: Int32, keys: any FileKeySource, lockState: LockState) throws(Errno) {
        (self.keys, self.lockState) = (keys, lockState)
        var descriptors = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &descriptors)
        limit = Int(clamping: descriptors.rlim_cur / 4 * 3)
        var information = stat()
        guard fstat(descriptor, &information) == 0 else { throw .last }
        let root = Node(Self.rootNumber, descriptor, information, keys: keys, lockState: lockState)
        // The kernel never forgets it.
        root.lookups = 1
        (byNumber[root.number], byIdentity[root.identity]) = (root, root)
    }

    subscript(number: UInt64) -> Node {
        get throws(Errno) {
            try lock.withLock { _ throws(Errno) in
                guard let node = byNumber[number] else { throw Errno(ESTALE) }
                return node
            }
        }
    }

    /// Whether so many files are known that descriptors are about to run out.
    var isCrowded: Bool { known.load(ordering: .relaxed) > limit }

    /// Nodes to do without so that half of the room is free: the oldest of files and links that nobody has open.
    var dispensable: ArraySlice<Node> {
        let wanted = known.load(ordering: .relaxed) - limit / 2
        var idle: [Node] = []
        for node in all where node.kind != S_IFDIR {
            if let contents = node.contents, contents.isOpen { continue }
            idle.append(node)
        }
        idle.sort { $0.number < $1.number }
        return idle.prefix(max(0, wanted))
    }

    var all: [Node] { lock.withLock { _ in Array(byNumber.values) } }

    /// The node for a file below, of which the kernel is about to be told.
    ///
    /// - Parameter descriptor: Stands for the file; it is closed unless a new node keeps it.
    func add(_ descriptor: Int32) throws(Errno) -> Node {
        var information = stat()
        guard fstat(descriptor, &information) == 0 else {
            defer { close(descriptor) }
            throw .last
        }
        let identity = NodeIdentity(information)
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
            known.add(1, ordering: .relaxed)
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
            known.subtract(1, ordering: .relaxed)
        }
    }
}
