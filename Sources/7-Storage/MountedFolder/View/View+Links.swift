import CFuse3
import CLibrary

/// Symbolic links, hard links and the removal of names.
extension View {
    func makeLink(
        _ request: fuse_req_t, _ target: UnsafePointer<CChar>, _ parent: UInt64, _ name: UnsafePointer<CChar>
    ) throws(Errno) -> Node {
        let folder = try nodes[parent]
        let name = try encrypted(name, in: folder)
        let sealed = try nameKey.links.encrypt(UnsafeRawBufferPointer(start: target, count: strlen(target)))
        let result = sealed.withCString { sealed in
            name.withCString { symlinkat(sealed, folder.descriptor, $0) }
        }
        guard result == 0 else { throw .last }
        let node = try find(name, in: folder)
        try setOwner(of: node, in: folder, request)
        return node
    }

    func readLink(_ request: fuse_req_t, _ number: UInt64) throws(Errno) {
        let node = try nodes[number]
        guard node.kind == S_IFLNK else { throw Errno(EINVAL) }
        var bytes = [CChar](repeating: 0, count: 4096)
        let count = readlinkat(node.descriptor, "", &bytes, bytes.count)
        guard count >= 0 else { throw .last }
        let target = try nameKey.links.decrypt(bytes[..<count].map(UInt8.init(bitPattern:)))
        _ = fuse.replyLink(request, target.map(CChar.init(bitPattern:)) + [0])
    }

    func addName(_ number: UInt64, _ parent: UInt64, _ name: UnsafePointer<CChar>) throws(Errno) -> Node {
        let (node, folder) = (try nodes[number], try nodes[parent])
        let name = try encrypted(name, in: folder)
        let result = name.withCString {
            linkat(AT_FDCWD, node.path, folder.descriptor, $0, AT_SYMLINK_FOLLOW)
        }
        guard result == 0 else { throw .last }
        return try find(name, in: folder)
    }

    func removeName(_ parent: UInt64, _ name: UnsafePointer<CChar>) throws(Errno) {
        let folder = try nodes[parent]
        let name = try encrypted(name, in: folder)
        guard name.withCString({ unlinkat(folder.descriptor, $0, 0) }) == 0 else { throw .last }
    }
}
