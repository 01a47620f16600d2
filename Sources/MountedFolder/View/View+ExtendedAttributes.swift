import CFuse3
import Glibc
import KeychainModel
import ProtectedFiles
import SystemLibraries

/// Extended attributes: those of programs, which are kept below as they are, and the class.
extension View {

    private typealias Get =
        @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeMutableRawPointer?, Int)
        -> Int
    private typealias Set =
        @convention(c) (
            UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeRawPointer?, Int, Int32
        ) -> Int32
    private typealias List = @convention(c) (UnsafePointer<CChar>, UnsafeMutablePointer<CChar>?, Int) -> Int
    private typealias Remove = @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Int32

    private static let get: Get? = libraryFunction("getxattr")
    private static let set: Set? = libraryFunction("setxattr")
    private static let list: List? = libraryFunction("listxattr")
    private static let remove: Remove? = libraryFunction("removexattr")

    /// XATTR_LIST_MAX and XATTR_SIZE_MAX (linux/limits.h), in bytes.
    private static let limit = 65_536

    /// Attributes of programs have a space of their own (xattr(7)); the others are the system's.
    private func isOfPrograms(_ name: String) -> Bool { name.hasPrefix("user.") }

    private func hasAttributes(_ node: Node) -> Bool { node.kind == S_IFREG || node.kind == S_IFDIR }

    func getAttribute(_ request: fuse_req_t, _ number: UInt64, _ name: UnsafePointer<CChar>, _ room: Int) {
        do throws(Errno) {
            let name = String(cString: name)
            // Asked by the kernel before each write.
            guard isOfPrograms(name) else { throw Errno(ENODATA) }
            let node = try nodes[number]
            guard hasAttributes(node) else { throw Errno(ENODATA) }
            let value = try name == MountPoint.classAttribute ? Array(fileClass(of: node).utf8) : value(name, of: node)
            try replyValue(request, value, room)
        } catch {
            _ = fuse.replyError(request, error.code)
        }
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

    private func value(_ name: String, of node: Node) throws(Errno) -> [UInt8] {
        guard let get = Self.get else { throw Errno(ENOTSUP) }
        var value = [UInt8](repeating: 0, count: Self.limit)
        let count = get(node.path, name, &value, value.count)
        guard count >= 0 else { throw .last }
        return Array(value[..<count])
    }

    func listAttributes(_ request: fuse_req_t, _ number: UInt64, _ room: Int) {
        do throws(Errno) {
            let node = try nodes[number]
            guard hasAttributes(node) else { return try replyValue(request, [], room) }
            guard let list = Self.list else { throw Errno(ENOTSUP) }
            var names = [CChar](repeating: 0, count: Self.limit)
            let count = list(node.path, &names, names.count)
            guard count >= 0 else { throw .last }
            var answer = Array(MountPoint.classAttribute.utf8) + [0]
            for name in names[..<count].split(separator: 0) {
                let bytes = name.map(UInt8.init(bitPattern:))
                guard bytes.starts(with: "user.".utf8), !bytes.elementsEqual(MountPoint.classAttribute.utf8) else {
                    continue
                }
                answer += bytes + [0]
            }
            try replyValue(request, answer, room)
        } catch {
            _ = fuse.replyError(request, error.code)
        }
    }

    func setAttribute(
        _ request: fuse_req_t, _ number: UInt64, _ name: UnsafePointer<CChar>, _ value: UnsafeRawBufferPointer,
        _ flags: Int32
    ) {
        reply(request) { () throws(Errno) in
            let name = String(cString: name)
            let node = try nodes[number]
            guard isOfPrograms(name), hasAttributes(node) else { throw Errno(ENOTSUP) }
            if name == MountPoint.classAttribute {
                guard let fileClass = FileProtectionClass(named: String(decoding: value, as: UTF8.self)) else {
                    throw Errno(EINVAL)
                }
                return try setClass(fileClass, of: node)
            }
            guard let set = Self.set else { throw Errno(ENOTSUP) }
            guard set(node.path, name, value.baseAddress, value.count, flags) == 0 else { throw .last }
        }
    }

    func removeAttribute(_ request: fuse_req_t, _ number: UInt64, _ name: UnsafePointer<CChar>) {
        reply(request) { () throws(Errno) in
            let name = String(cString: name)
            let node = try nodes[number]
            guard isOfPrograms(name), hasAttributes(node) else { throw Errno(ENOTSUP) }
            // Each file has a class.
            guard name != MountPoint.classAttribute else { throw Errno(EPERM) }
            guard let remove = Self.remove else { throw Errno(ENOTSUP) }
            guard remove(node.path, name) == 0 else { throw .last }
        }
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
