import Bytes
import CFuse3
import CLibrary
import KeychainModel
import ProtectedFiles
import VaultInterface

/// The file system: plain files and names over a folder of protected files and encrypted names.
///
/// The kernel checks the permissions (the mount option `default_permissions`).
final class View: Sendable {
    let fuse: Fuse3
    let keys: any FileKeySource
    let nameKey: NameKey
    let nodes: NodeTable
    let lockState: KnownLockState
    let reports: Reports
    let cache = KernelCache()
    /// Whether a new file belongs to the user who created it, instead of the user of this process.
    let setsOwners: Bool

    /// How long the kernel may use names and attributes without asking again, in seconds.
    let patience = 1.0

    init(
        _ fuse: Fuse3, _ folder: ViewFolder, keys: any FileKeySource, reports: Reports
    ) throws(Errno) {
        (self.fuse, self.keys, self.reports) = (fuse, keys, reports)
        nameKey = folder.nameKey
        setsOwners = geteuid() == 0
        let lockState = KnownLockState()
        self.lockState = lockState
        let root = CLibrary.open(folder.path, Linux.pathOnly | O_DIRECTORY | O_CLOEXEC)
        guard root >= 0 else { throw .last }
        nodes = try NodeTable(root: root, keys: keys, lockState: lockState)
    }

    // MARK: Names

    func encrypted(_ name: UnsafePointer<CChar>, in folder: Node) throws(Errno) -> EncryptedName {
        try names(of: folder).encrypt(UnsafeRawBufferPointer(start: name, count: strlen(name)))
    }

    func names(of folder: Node) throws(Errno) -> NameCipher {
        do throws(Errno) {
            return try folder.names(nameKey, keys: keys)
        } catch {
            if error.code == EIO {
                reports.once("\(place(of: folder)) has no valid record of its names")
            }
            throw error
        }
    }

    /// Returns the path of a node below, for a person.
    func place(of node: Node) -> String { (try? Errno.link(node.path)) ?? "a folder" }

    /// Returns the node with a name below, and counts that the kernel is told of it.
    func find(_ name: EncryptedName, in folder: Node) throws(Errno) -> Node {
        let descriptor = name.withCString {
            openat(folder.descriptor, $0, Linux.pathOnly | O_NOFOLLOW | O_CLOEXEC)
        }
        guard descriptor >= 0 else { throw .last }
        return try nodes.add(descriptor)
    }

    // MARK: Attributes

    /// Returns the attributes that programs see.
    ///
    /// - Parameter isFinal: Whether the times must not change by themselves any more.
    func attributes(of node: Node, isFinal: Bool = true) throws(Errno) -> stat {
        if let contents = node.contents {
            let (attributes, isChanged) = try contents.attributes(isFinal: isFinal)
            if isChanged { cache.dropLater(node) }
            return attributes
        }
        var attributes = try node.information
        if node.kind == S_IFLNK { attributes.st_size = LinkCipher.targetCount(attributes.st_size) }
        return attributes
    }

    /// Returns the kernel's entry for a node that it looked up. Undoes the look-up after a failure.
    func entry(_ node: Node) throws(Errno) -> fuse_entry_param {
        do throws(Errno) {
            return fuse_entry_param(
                ino: node.number, generation: 1, attr: try attributes(of: node), attr_timeout: patience,
                entry_timeout: patience)
        } catch {
            nodes.forget(node.number, 1)
            throw error
        }
    }

    /// Replies with a node that the kernel looked up or made.
    func reply(_ request: fuse_req_t, _ node: Node) throws(Errno) {
        var entry = try entry(node)
        if fuse.replyEntry(request, &entry) != 0 { nodes.forget(node.number, 1) }
    }

    func send(_ bytes: [UInt8], _ request: fuse_req_t) {
        bytes.withUnsafeBytes { bytes in
            _ = fuse.replyBytes(request, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
        }
    }
}
