import Glibc
import SystemLibraries

/// The extended attributes of an open file (xattr(7)), whose functions Swift's module of the C library does not show.
enum ExtendedAttributes {
    private typealias List = @convention(c) (Int32, UnsafeMutablePointer<CChar>?, Int) -> Int
    private typealias Get = @convention(c) (Int32, UnsafePointer<CChar>, UnsafeMutableRawPointer?, Int) -> Int
    private typealias Set = @convention(c) (Int32, UnsafePointer<CChar>, UnsafeRawPointer?, Int, Int32) -> Int32

    /// XATTR_LIST_MAX and XATTR_SIZE_MAX (linux/limits.h), in bytes.
    private static let limit = 65_536

    static func read(_ descriptor: Int32, path: String) throws(SealedFileError) -> [(name: String, value: [UInt8])] {
        guard let list: List = libraryFunction("flistxattr"), let get: Get = libraryFunction("fgetxattr") else {
            throw .system(operation: "read the extended attributes of", path: path, errno: ENOSYS)
        }
        var names = [CChar](repeating: 0, count: limit)
        let count = list(descriptor, &names, names.count)
        guard count >= 0 else {
            if errno == ENOTSUP { return [] }
            throw .last("read the extended attributes of", path)
        }
        var attributes: [(name: String, value: [UInt8])] = []
        for bytes in names[..<count].split(separator: 0) {
            let name = String(decoding: bytes.map(UInt8.init(bitPattern:)), as: UTF8.self)
            var value = [UInt8](repeating: 0, count: limit)
            let size = get(descriptor, name, &value, value.count)
            guard size >= 0 else { throw .last("read the extended attribute '\(name)' of", path) }
            attributes.append((name, Array(value[..<size])))
        }
        return attributes
    }

    static func write(
        _ attributes: [(name: String, value: [UInt8])], _ descriptor: Int32, path: String
    ) throws(SealedFileError) {
        guard let set: Set = libraryFunction("fsetxattr") else {
            throw .system(operation: "write the extended attributes of", path: path, errno: ENOSYS)
        }
        for (name, value) in attributes {
            guard set(descriptor, name, value, value.count, 0) == 0 else {
                throw .last("keep the extended attribute '\(name)' of", path)
            }
        }
    }
}
