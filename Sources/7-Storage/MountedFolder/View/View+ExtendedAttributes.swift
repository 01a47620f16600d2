import CFuse3
import CLibrary
import KeychainModel
import ProtectedFiles
import SystemLibraries

/// Extended attributes: those of programs, which the file below stores unchanged, and the class.
extension View {
    /// Returns whether an attribute is in the namespace of programs (xattr(7)). The others belong to the system.
    private func isOfPrograms(_ name: String) -> Bool { name.hasPrefix("user.") }

    private func hasAttributes(_ node: Node) -> Bool { node.kind == S_IFREG || node.kind == S_IFDIR }

    func getAttribute(_ request: fuse_req_t, _ number: UInt64, _ name: UnsafePointer<CChar>, _ room: Int) throws(Errno)
    {
        let name = String(cString: name)
        // The kernel asks for a system attribute before each write.
        guard isOfPrograms(name) else { throw Errno(ENODATA) }
        let node = try nodes[number]
        guard hasAttributes(node) else { throw Errno(ENODATA) }
        let value =
            try name == MountPoint.classAttribute
            ? Array(fileClass(of: node).utf8)
            : Errno.ofAttributes(ExtendedAttributes.value(name, of: .path(node.path)))
        try replyValue(request, value, room)
    }

    private func replyValue(_ request: fuse_req_t, _ value: [UInt8], _ room: Int) throws(Errno) {
        if room == 0 {
            _ = fuse.replyAttributeSize(request, value.count)
        } else if value.count > room {
            throw Errno(ERANGE)
        } else {
            send(value, request)
        }
    }

    func listAttributes(_ request: fuse_req_t, _ number: UInt64, _ room: Int) throws(Errno) {
        let node = try nodes[number]
        guard hasAttributes(node) else { return try replyValue(request, [], room) }
        let names = try Errno.ofAttributes(ExtendedAttributes.names(of: .path(node.path)))
        var answer = Array(MountPoint.classAttribute.utf8) + [0]
        for bytes in names {
            guard bytes.starts(with: "user.".utf8), !bytes.elementsEqual(MountPoint.classAttribute.utf8) else {
                continue
            }
            answer += bytes + [0]
        }
        try replyValue(request, answer, room)
    }

    func setAttribute(
        _ number: UInt64, _ name: UnsafePointer<CChar>, _ value: UnsafeRawBufferPointer,
        _ flags: Int32
    ) throws(Errno) {
        let name = String(cString: name)
        let node = try nodes[number]
        guard isOfPrograms(name), hasAttributes(node) else { throw Errno(ENOTSUP) }
        if name == MountPoint.classAttribute {
            guard let fileClass = FileProtectionClass(named: String(decoding: value, as: UTF8.self)) else {
                throw Errno(EINVAL)
            }
            return try setClass(fileClass, of: node)
        }
        try Errno.ofAttributes(ExtendedAttributes.set(name, to: Array(value), of: .path(node.path), flags: flags))
    }

    func removeAttribute(_ number: UInt64, _ name: UnsafePointer<CChar>) throws(Errno) {
        let name = String(cString: name)
        let node = try nodes[number]
        guard isOfPrograms(name), hasAttributes(node) else { throw Errno(ENOTSUP) }
        // Every file has a class.
        guard name != MountPoint.classAttribute else { throw Errno(EPERM) }
        try Errno.ofAttributes(ExtendedAttributes.remove(name, of: .path(node.path)))
    }

    private func fileClass(of node: Node) throws(Errno) -> String {
        if let contents = node.contents { return try contents.fileClass.commandName }
        guard let found = try node.folderRecord(nameKey, keys: keys).defaultClass else { throw Errno(ENODATA) }
        return found.commandName
    }

    private func setClass(_ fileClass: FileProtectionClass, of node: Node) throws(Errno) {
        if let contents = node.contents { return try contents.changeClass(to: fileClass) }
        var record = try node.folderRecord(nameKey, keys: keys)
        guard record.defaultClass != fileClass else { return }
        record.defaultClass = fileClass
        try node.setRecord(record, nameKey, keys: keys)
    }
}
