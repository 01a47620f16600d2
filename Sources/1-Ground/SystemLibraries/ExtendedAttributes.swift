import CLibrary

/// The extended attributes of a file (xattr(7)). Swift's module of the C library does not declare these functions.
///
/// All functions follow symbolic links.
package enum ExtendedAttributes {
    /// The `errno` of a function that failed.
    package struct Failure: Error, Equatable {
        package let errno: Int32

        fileprivate static var last: Failure { Failure(errno: CLibrary.errno) }
    }

    package enum File {
        case path(String)
        case descriptor(Int32)
    }

    private typealias Text = UnsafePointer<CChar>
    private typealias List = @convention(c) (Text, UnsafeMutablePointer<CChar>?, Int) -> Int
    private typealias ListOpen = @convention(c) (Int32, UnsafeMutablePointer<CChar>?, Int) -> Int
    private typealias Get = @convention(c) (Text, Text, UnsafeMutableRawPointer?, Int) -> Int
    private typealias GetOpen = @convention(c) (Int32, Text, UnsafeMutableRawPointer?, Int) -> Int
    private typealias Set = @convention(c) (Text, Text, UnsafeRawPointer?, Int, Int32) -> Int32
    private typealias SetOpen = @convention(c) (Int32, Text, UnsafeRawPointer?, Int, Int32) -> Int32
    private typealias Remove = @convention(c) (Text, Text) -> Int32
    private typealias RemoveOpen = @convention(c) (Int32, Text) -> Int32

    private static let list: List? = libraryFunction("listxattr")
    private static let listOpen: ListOpen? = libraryFunction("flistxattr")
    private static let get: Get? = libraryFunction("getxattr")
    private static let getOpen: GetOpen? = libraryFunction("fgetxattr")
    private static let set: Set? = libraryFunction("setxattr")
    private static let setOpen: SetOpen? = libraryFunction("fsetxattr")
    private static let remove: Remove? = libraryFunction("removexattr")
    private static let removeOpen: RemoveOpen? = libraryFunction("fremovexattr")

    /// XATTR_LIST_MAX and XATTR_SIZE_MAX (linux/limits.h), in bytes.
    private static let limit = 65_536

    /// Returns the names of a file's attributes as raw bytes.
    package static func names(of file: File) throws(Failure) -> [[UInt8]] {
        var names = [CChar](repeating: 0, count: limit)
        let count: Int
        switch file {
        case .path(let path): count = try found(list)(path, &names, names.count)
        case .descriptor(let descriptor): count = try found(listOpen)(descriptor, &names, names.count)
        }
        guard count >= 0 else { throw .last }
        return names[..<count].split(separator: 0).map { $0.map(UInt8.init(bitPattern:)) }
    }

    package static func value(_ name: String, of file: File) throws(Failure) -> [UInt8] {
        var value = [UInt8](repeating: 0, count: limit)
        let count: Int
        switch file {
        case .path(let path): count = try found(get)(path, name, &value, value.count)
        case .descriptor(let descriptor): count = try found(getOpen)(descriptor, name, &value, value.count)
        }
        guard count >= 0 else { throw .last }
        return Array(value[..<count])
    }

    /// - Parameter flags: Such as `XATTR_CREATE` (sys/xattr.h).
    package static func set(
        _ name: String, to value: [UInt8], of file: File, flags: Int32 = 0
    ) throws(Failure) {
        let result: Int32
        switch file {
        case .path(let path): result = try found(set)(path, name, value, value.count, flags)
        case .descriptor(let descriptor): result = try found(setOpen)(descriptor, name, value, value.count, flags)
        }
        guard result == 0 else { throw .last }
    }

    package static func remove(_ name: String, of file: File) throws(Failure) {
        let result: Int32
        switch file {
        case .path(let path): result = try found(remove)(path, name)
        case .descriptor(let descriptor): result = try found(removeOpen)(descriptor, name)
        }
        guard result == 0 else { throw .last }
    }

    private static func found<Function>(_ function: Function?) throws(Failure) -> Function {
        guard let function else { throw Failure(errno: ENOSYS) }
        return function
    }
}
