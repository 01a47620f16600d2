import Bytes
import CFuse3
import CLibrary

/// Owners, modes, times and lengths.
extension View {
    func getAttributes(_ request: fuse_req_t, _ number: UInt64, isOfOpenFile: Bool) throws(Errno) {
        // The kernel names an open file if it asks for itself, and none if a program asks.
        var attributes = try attributes(of: nodes[number], isFinal: !isOfOpenFile)
        _ = fuse.replyAttributes(request, &attributes, patience)
    }

    func setAttributes(_ request: fuse_req_t, _ number: UInt64, _ wanted: stat, _ which: Int32) throws(Errno) {
        let node = try nodes[number]
        if which & KEYCHAIN_FUSE_SET_SIZE != 0 {
            guard let contents = node.contents else { throw Errno(EINVAL) }
            try contents.truncate(to: UInt64(clamping: max(0, wanted.st_size)))
        }
        if which & ~KEYCHAIN_FUSE_SET_SIZE != 0 {
            if let contents = node.contents {
                try contents.settled(set(wanted, which, of: node))
            } else {
                try set(wanted, which, of: node)
            }
        }
        var attributes = try attributes(of: node)
        _ = fuse.replyAttributes(request, &attributes, patience)
    }

    private func set(_ wanted: stat, _ which: Int32, of node: Node) throws(Errno) {
        if which & (KEYCHAIN_FUSE_SET_UID | KEYCHAIN_FUSE_SET_GID) != 0 {
            let owner = which & KEYCHAIN_FUSE_SET_UID != 0 ? wanted.st_uid : uid_t.max
            let group = which & KEYCHAIN_FUSE_SET_GID != 0 ? wanted.st_gid : gid_t.max
            guard fchownat(node.descriptor, "", owner, group, Linux.emptyPath) == 0 else { throw .last }
        }
        // Set after the owner, because a change of the owner removes bits.
        if which & KEYCHAIN_FUSE_SET_MODE != 0 {
            guard node.kind != S_IFLNK else { throw Errno(EOPNOTSUPP) }
            guard chmod(node.path, wanted.st_mode & 0o7777) == 0 else { throw .last }
        }
        let timeBits =
            KEYCHAIN_FUSE_SET_ATIME | KEYCHAIN_FUSE_SET_MTIME | KEYCHAIN_FUSE_SET_ATIME_NOW
            | KEYCHAIN_FUSE_SET_MTIME_NOW
        if which & timeBits != 0 {
            let times = [
                time(wanted.st_atim, which, KEYCHAIN_FUSE_SET_ATIME, KEYCHAIN_FUSE_SET_ATIME_NOW),
                time(wanted.st_mtim, which, KEYCHAIN_FUSE_SET_MTIME, KEYCHAIN_FUSE_SET_MTIME_NOW),
            ]
            guard utimensat(AT_FDCWD, node.path, times, 0) == 0 else { throw .last }
        }
    }

    /// Returns a time for utimensat(2).
    private func time(_ wanted: timespec, _ which: Int32, _ bit: Int32, _ nowBit: Int32) -> timespec {
        // UTIME_NOW and UTIME_OMIT (sys/stat.h), which Swift's module of the C library does not declare.
        if which & nowBit != 0 { return timespec(tv_sec: 0, tv_nsec: (1 << 30) - 1) }
        return which & bit != 0 ? wanted : timespec(tv_sec: 0, tv_nsec: (1 << 30) - 2)
    }

    func examineSystem(_ request: fuse_req_t, _ number: UInt64) throws(Errno) {
        var system = statvfs()
        guard try fstatvfs(nodes[number].descriptor, &system) == 0 else { throw .last }
        system.f_namemax = UInt(clamping: NameCipher.limit)
        _ = fuse.replySystem(request, &system)
    }
}
