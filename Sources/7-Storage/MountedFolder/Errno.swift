import CLibrary
import KeychainModel
import ProtectedFiles
import SystemLibraries
import VaultInterface

/// The error number that programs get from a failed operation on the view.
struct Errno: Error, Equatable {
    let code: Int32

    init(_ code: Int32) { self.code = code }

    /// The error of the last call of the C library.
    static var last: Errno { Errno(errno) }

    init(_ error: SealedFileError) {
        code =
            switch error {
            case .refused(.interactionNotAllowed), .keyDiscarded: EACCES
            case .refused(.memoryUnavailable), .memoryUnavailable: ENOMEM
            case .notFound: ENOENT
            case .alreadyExists: EEXIST
            case .diskFull: ENOSPC
            case .tooLarge: EFBIG
            case .inUse: EBUSY
            case .openedForReading: EBADF
            case .system(_, _, let errno): errno
            default: EIO
            }
    }

    /// Runs `body` and converts its error to the error number for programs.
    static func of<Value>(_ body: @autoclosure () throws(SealedFileError) -> Value) throws(Errno) -> Value {
        do { return try body() } catch { throw Errno(error) }
    }

    /// Does the same for an access to extended attributes.
    static func ofAttributes<Value>(
        _ body: @autoclosure () throws(ExtendedAttributes.Failure) -> Value
    ) throws(Errno) -> Value {
        do { return try body() } catch { throw Errno(error.errno) }
    }
}

/// Linux constants that Swift's module of the C library does not declare.
enum Linux {
    /// `O_PATH` (asm-generic/fcntl.h): a descriptor that refers to a file without opening it.
    static let pathOnly: Int32 = 0o10_000_000
    /// `AT_EMPTY_PATH` (linux/fcntl.h): operates on the descriptor itself.
    static let emptyPath: Int32 = 0x1000
    /// `RENAME_EXCHANGE` (linux/fs.h).
    static let renameExchanging: UInt32 = 2
}

extension Errno {
    typealias Rename = @convention(c) (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32) -> Int32

    /// `renameat2` (glibc 2.28). The header declares it only for programs that ask for GNU's extensions.
    static let renameat2: Rename? = libraryFunction("renameat2")

    /// Returns the target of a symbolic link.
    static func link(_ path: String) throws(Errno) -> String {
        var bytes = [CChar](repeating: 0, count: 4096)
        let count = readlink(path, &bytes, bytes.count)
        guard count >= 0 else { throw .last }
        return String(decoding: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
