import Bytes
import CFuse3
import CLibrary
import KeychainModel
import ProtectedFiles

/// Names and folders.
extension View {
    func lookUp(_ request: fuse_req_t, _ parent: UInt64, _ name: UnsafePointer<CChar>) throws(Errno) {
        let node: Node
        do throws(Errno) {
            let folder = try nodes[parent]
            node = try find(try encrypted(name, in: folder), in: folder)
        } catch {
            guard error.code == ENOENT else { throw error }
            // The kernel remembers for a while that there is no such name.
            var entry = fuse_entry_param()
            entry.entry_timeout = patience
            _ = fuse.replyEntry(request, &entry)
            return
        }
        try reply(request, node)
    }

    func makeFolder(_ request: fuse_req_t, _ parent: UInt64, _ name: UnsafePointer<CChar>, _ mode: mode_t) throws(Errno)
        -> Node
    {
        let folder = try nodes[parent]
        let name = try encrypted(name, in: folder)
        let record = try folder.folderRecord(nameKey, keys: keys).inherited()
        // At first, only its creator may write to it.
        guard name.withCString({ mkdirat(folder.descriptor, $0, 0o700) }) == 0 else { throw .last }
        do throws(Errno) {
            let node = try find(name, in: folder)
            do throws(Errno) {
                try setOwner(of: node, in: folder, request)
                try node.setRecord(record, nameKey, keys: keys)
                // Keeps S_ISGID, which the folder below passes on.
                let inherited = try node.information.st_mode & S_ISGID
                guard chmod(node.path, mode & 0o7777 | inherited) == 0 else { throw .last }
            } catch {
                nodes.forget(node.number, 1)
                throw error
            }
            return node
        } catch {
            removeFolder(name, in: folder)
            throw error
        }
    }

    /// Removes a folder that has nothing but its record. Ignores errors.
    private func removeFolder(_ name: EncryptedName, in folder: Node) {
        let flags = Linux.pathOnly | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        let descriptor = name.withCString { openat(folder.descriptor, $0, flags) }
        if descriptor >= 0 {
            unlinkat(descriptor, FolderRecord.fileName, 0)
            close(descriptor)
        }
        _ = name.withCString { unlinkat(folder.descriptor, $0, Self.removingFolder) }
    }

    /// `AT_REMOVEDIR` (fcntl.h).
    private static let removingFolder: Int32 = 0x200

    func removeFolder(_ parent: UInt64, _ name: UnsafePointer<CChar>) throws(Errno) {
        let folder = try nodes[parent]
        try removeEmptyFolder(try encrypted(name, in: folder), in: folder)
    }

    /// Removes a folder that is empty in the view.
    private func removeEmptyFolder(_ name: EncryptedName, in folder: Node) throws(Errno) {
        let node = try find(name, in: folder)
        defer { nodes.forget(node.number, 1) }
        guard node.kind == S_IFDIR else { throw Errno(ENOTDIR) }
        let record = try? node.folderRecord(nameKey, keys: keys)
        guard try isEmpty(node) else { throw Errno(ENOTEMPTY) }
        unlinkat(node.descriptor, FolderRecord.fileName, 0)
        guard name.withCString({ unlinkat(folder.descriptor, $0, Self.removingFolder) }) == 0 else {
            let failure = Errno.last
            // The folder stays, so it gets its record back.
            if let record { try? node.setRecord(record, nameKey, keys: keys) }
            throw failure
        }
    }

    /// Returns whether a folder has nothing but its record. A foreign file counts, because it belongs to someone.
    private func isEmpty(_ folder: Node) throws(Errno) -> Bool {
        let below = try FolderBelow(folder)
        while let entry = try below.next() {
            guard
                entry.name.elementsEqual(".".utf8) || entry.name.elementsEqual("..".utf8)
                    || entry.name.elementsEqual(FolderRecord.fileName.utf8)
            else { return false }
        }
        return true
    }

    func rename(
        _ parent: UInt64, _ name: UnsafePointer<CChar>, _ newParent: UInt64,
        _ newName: UnsafePointer<CChar>, _ flags: UInt32
    ) throws(Errno) {
        let (from, to) = (try nodes[parent], try nodes[newParent])
        let (old, new) = (try encrypted(name, in: from), try encrypted(newName, in: to))
        do throws(Errno) {
            try rename(old, from, new, to, flags)
        } catch {
            guard flags == 0, error.code == ENOTEMPTY || error.code == EEXIST else { throw error }
            try replaceFolder(old, from, new, to)
        }
    }

    /// Replaces a folder that is empty in the view, although it has a record below.
    private func replaceFolder(
        _ old: EncryptedName, _ from: Node, _ new: EncryptedName, _ to: Node
    ) throws(Errno) {
        let target = try find(new, in: to)
        defer { nodes.forget(target.number, 1) }
        guard target.kind == S_IFDIR, try isEmpty(target) else { throw Errno(ENOTEMPTY) }
        // Exchanges the two, so that the new name always exists.
        try rename(old, from, new, to, Linux.renameExchanging)
        try removeEmptyFolder(old, in: from)
    }

    private func rename(
        _ old: EncryptedName, _ from: Node, _ new: EncryptedName, _ to: Node, _ flags: UInt32
    ) throws(Errno) {
        guard let rename = Errno.renameat2 else { throw Errno(ENOSYS) }
        let result = old.withCString { old in
            new.withCString { new in rename(from.descriptor, old, to.descriptor, new, flags) }
        }
        guard result == 0 else { throw .last }
    }

    // MARK: Listing

    func openFolder(_ request: fuse_req_t, _ number: UInt64, _ file: UnsafeMutablePointer<fuse_file_info>) throws(Errno)
    {
        let listing = Unmanaged.passRetained(FolderListing(try nodes[number]))
        file.pointee.fh = UInt64(UInt(bitPattern: listing.toOpaque()))
        if fuse.replyOpen(request, file) != 0 { listing.release() }
    }

    func closeFolder(_ request: fuse_req_t, _ file: UnsafeMutablePointer<fuse_file_info>) {
        listing(file)?.release()
        _ = fuse.replyError(request, 0)
    }

    /// Returns the listing that `openFolder` stored. The kernel passes it back.
    private func listing(_ file: UnsafeMutablePointer<fuse_file_info>) -> Unmanaged<FolderListing>? {
        UnsafeRawPointer(bitPattern: UInt(file.pointee.fh)).map(Unmanaged.fromOpaque)
    }

    /// Reads the folder below.
    private func read(_ listing: FolderListing) throws(Errno) {
        let names = try names(of: listing.folder)
        let isRoot = listing.folder.number == NodeTable.rootNumber
        let below = try FolderBelow(listing.folder)
        var entries: [FolderListing.Entry] = []
        while let entry = try below.next() {
            let isDots = entry.name.elementsEqual(".".utf8) || entry.name.elementsEqual("..".utf8)
            if isDots {
                entries.append(
                    FolderListing.Entry(
                        name: entry.name.map(CChar.init(bitPattern:)) + [0], encrypted: nil, number: entry.number,
                        kind: entry.kind))
            } else if let name = names.decrypt(entry.name) {
                entries.append(
                    FolderListing.Entry(
                        name: name.map(CChar.init(bitPattern:)) + [0], encrypted: EncryptedName(entry.name),
                        number: entry.number, kind: entry.kind))
            } else if !entry.name.elementsEqual(FolderRecord.fileName.utf8),
                !(isRoot && entry.name.elementsEqual(NameKeyRecord.fileName.utf8))
            {
                let name = String(decoding: entry.name, as: UTF8.self)
                reports.once("\(place(of: listing.folder))/\(name) does not belong to the view and is left out")
            }
        }
        listing.entries = entries
    }

    /// - Parameter isPlus: Whether the kernel also wants what a look-up of each entry returns.
    func readFolder(
        _ request: fuse_req_t, _ count: Int, _ offset: Int, _ file: UnsafeMutablePointer<fuse_file_info>, isPlus: Bool
    ) throws(Errno) {
        guard let listing = listing(file)?.takeUnretainedValue() else { throw Errno(EBADF) }
        if offset == 0 { try read(listing) }
        var (bytes, used) = ([UInt8](repeating: 0, count: count), 0)
        for index in max(0, offset)..<max(0, offset, listing.entries.count) {
            let entry = listing.entries[index]
            let size = add(entry, at: index + 1, of: listing, to: &bytes, used, request, isPlus: isPlus)
            guard size <= count - used else { break }
            used += size
        }
        send(Array(bytes[..<used]), request)
    }

    /// - Returns: The size in bytes; larger than the room if the entry was not added.
    private func add(
        _ entry: FolderListing.Entry, at next: Int, of listing: FolderListing, to bytes: inout [UInt8], _ used: Int,
        _ request: fuse_req_t, isPlus: Bool
    ) -> Int {
        var attributes = stat()
        (attributes.st_ino, attributes.st_mode) = (ino_t(entry.number), entry.kind)
        var known = fuse_entry_param()
        known.attr = attributes
        var node: Node?
        if isPlus, let encrypted = entry.encrypted {
            // A missing or damaged file is listed. Using it returns the error.
            node = try? find(encrypted, in: listing.folder)
            if let found = node {
                if let full = try? self.entry(found) { known = full } else { node = nil }
            }
        }
        let size = bytes.withUnsafeMutableBytes { bytes in
            let room = bytes.count - used
            let start = bytes.baseAddress?.advanced(by: used).assumingMemoryBound(to: CChar.self)
            return isPlus
                ? fuse.addEntryPlus(request, start, room, entry.name, &known, next)
                : fuse.addEntry(request, start, room, entry.name, &attributes, next)
        }
        if let node, size > bytes.count - used { nodes.forget(node.number, 1) }
        return size
    }

    /// Waits until the names of a folder are on the disk.
    func synchronizeFolder(_ number: UInt64) throws(Errno) {
        let descriptor = CLibrary.open(try nodes[number].path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .last }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .last }
    }
}
