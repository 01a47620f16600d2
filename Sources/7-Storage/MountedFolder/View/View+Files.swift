import Bytes
import CFuse3
import CLibrary
import KeychainModel
import ProtectedFiles

/// Regular files and their data.
extension View {
    private func contents(_ number: UInt64) throws(Errno) -> FileContents {
        let node = try nodes[number]
        guard let contents = node.contents else { throw Errno(node.kind == S_IFDIR ? EISDIR : EINVAL) }
        return contents
    }

    /// Creates an empty file in the class that the folder gives to new files.
    private func make(
        _ name: EncryptedName, in folder: Node, _ mode: mode_t, _ request: fuse_req_t
    ) throws(Errno) -> (node: Node, file: SealedFile) {
        let fileClass = try folder.folderRecord(nameKey, keys: keys).defaultClass ?? .complete
        let file = try Errno.of(
            SealedFile.create("\(folder.path)/\(name.text)", fileClass, mode: mode & 0o7777, keys: keys))
        do throws(Errno) {
            let node = try find(name, in: folder)
            try setOwner(of: node, in: folder, request)
            return (node, file)
        } catch {
            file.close()
            throw error
        }
    }

    func create(
        _ request: fuse_req_t, _ parent: UInt64, _ name: UnsafePointer<CChar>, _ mode: mode_t,
        _ info: UnsafeMutablePointer<fuse_file_info>
    ) throws(Errno) {
        let folder = try nodes[parent]
        let name = try encrypted(name, in: folder)
        let node = try create(name, in: folder, mode, request, info)
        do throws(Errno) {
            var entry = try entry(node)
            if fuse.replyCreate(request, &entry, info) != 0 {
                _ = node.contents?.release()
                nodes.forget(node.number, 1)
            }
        } catch {
            _ = node.contents?.release()
            throw error
        }
    }

    private func create(
        _ name: EncryptedName, in folder: Node, _ mode: mode_t, _ request: fuse_req_t,
        _ info: UnsafeMutablePointer<fuse_file_info>
    ) throws(Errno) -> Node {
        do throws(Errno) {
            let (node, file) = try make(name, in: folder, mode, request)
            guard let contents = node.contents else { throw Errno(EIO) }
            try contents.adopt(file)
            return node
        } catch {
            // Another program created the file first.
            guard error.code == EEXIST, info.pointee.flags & O_EXCL == 0 else { throw error }
            let node = try find(name, in: folder)
            do throws(Errno) {
                try open(node, info)
                return node
            } catch {
                nodes.forget(node.number, 1)
                throw error
            }
        }
    }

    private func open(_ node: Node, _ info: UnsafeMutablePointer<fuse_file_info>) throws(Errno) {
        guard let contents = node.contents else { throw Errno(node.kind == S_IFDIR ? EISDIR : EINVAL) }
        let flags = info.pointee.flags
        let keeps = try contents.open(
            writing: flags & O_ACCMODE != O_RDONLY || flags & O_TRUNC != 0, truncating: flags & O_TRUNC != 0)
        if keeps { info.pointee.bits |= KEYCHAIN_FUSE_KEEP_CACHE }
    }

    func open(_ request: fuse_req_t, _ number: UInt64, _ info: UnsafeMutablePointer<fuse_file_info>) throws(Errno) {
        let node = try nodes[number]
        try open(node, info)
        if fuse.replyOpen(request, info) != 0 { _ = node.contents?.release() }
    }

    func read(_ request: fuse_req_t, _ number: UInt64, _ count: Int, _ offset: Int) throws(Errno) {
        let contents = try contents(number)
        guard let room = malloc(max(count, 1)) else { throw Errno(ENOMEM) }
        defer { free(room) }
        let buffer = UnsafeMutableRawBufferPointer(start: room, count: count)
        let got = try contents.read(into: buffer, at: UInt64(clamping: max(0, offset)))
        defer { SecretBytes.wipe(UnsafeMutableRawBufferPointer(rebasing: buffer[..<got])) }
        _ = fuse.replyBytes(request, room.assumingMemoryBound(to: CChar.self), got)
    }

    func write(
        _ request: fuse_req_t, _ number: UInt64, _ bytes: UnsafeRawBufferPointer, _ offset: Int,
        _ info: UnsafeMutablePointer<fuse_file_info>
    ) throws(Errno) {
        // A write from the kernel's cache has its own offset.
        let isAppended =
            info.pointee.flags & O_APPEND != 0 && info.pointee.bits & KEYCHAIN_FUSE_WRITEPAGE == 0
        try contents(number).write(bytes, at: isAppended ? nil : UInt64(clamping: max(0, offset)))
        _ = fuse.replyWrite(request, bytes.count)
    }

    func flush(_ number: UInt64) throws(Errno) { try contents(number).finish() }

    func synchronize(_ number: UInt64) throws(Errno) { try contents(number).synchronize() }

    func release(_ number: UInt64) throws(Errno) {
        let node = try nodes[number]
        if node.contents?.release() == true { cache.dropLater(node) }
    }

    func makeNode(_ request: fuse_req_t, _ parent: UInt64, _ name: UnsafePointer<CChar>, _ mode: mode_t) throws(Errno)
        -> Node
    {
        let folder = try nodes[parent]
        let name = try encrypted(name, in: folder)
        switch mode & S_IFMT {
        case S_IFREG, 0:
            let (node, file) = try make(name, in: folder, mode, request)
            file.close()
            return node
        case S_IFIFO, S_IFSOCK:
            guard name.withCString({ mknodat(folder.descriptor, $0, mode, 0) }) == 0 else { throw .last }
            let node = try find(name, in: folder)
            try setOwner(of: node, in: folder, request)
            // The umask of this process must not reduce the mode.
            guard chmod(node.path, mode & 0o7777) == 0 else { throw .last }
            return node
        default: throw Errno(EPERM)
        }
    }

    /// Makes the requesting user the owner of a new file, in a view with several users.
    func setOwner(of node: Node, in folder: Node, _ request: fuse_req_t) throws(Errno) {
        guard setsOwners, let context = fuse.context(request)?.pointee else { return }
        // In a folder with S_ISGID, the file system below has already set the group of the folder.
        let handsOnGroup = try folder.information.st_mode & S_ISGID != 0
        let information = try node.information
        let group = handsOnGroup ? information.st_gid : context.gid
        guard information.st_uid != context.uid || information.st_gid != group else { return }
        guard fchownat(node.descriptor, "", context.uid, group, Linux.emptyPath) == 0 else { throw .last }
    }
}
