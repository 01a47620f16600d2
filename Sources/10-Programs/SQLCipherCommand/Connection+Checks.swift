import CLibrary
import SQLCipherWire

extension Connection {
    /// The beginning of every SQLite file that is not encrypted (sqlite.org/fileformat2.html).
    private static let plainHeader = Array("SQLite format 3\0".utf8)

    private static func header(of path: String) throws(RequestFailure) -> [UInt8] {
        let descriptor = CLibrary.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw fileFailure("open", path) }
        // Closing any descriptor of a file drops the locks that SQLite has on it in this process: callers have none.
        defer { CLibrary.close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw RequestFailure(.refused, "\(path) is not a regular file")
        }
        var bytes = [UInt8](repeating: 0, count: plainHeader.count)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count >= 0 else { throw fileFailure("read", path) }
        return Array(bytes[..<count])
    }

    /// Refuses a file that cannot be an encrypted database, before the library sees it.
    static func checkHeader(_ path: String) throws(RequestFailure) {
        let header = try header(of: path)
        guard header.count == plainHeader.count else {
            throw RequestFailure(.damaged, "\(path) is too short to be a database: it was cut off or never written")
        }
        guard header != plainHeader else {
            throw RequestFailure(.notEncrypted, "\(path) is a database that is not encrypted: import it")
        }
    }

    /// Checks that a new file is there and is not in the clear.
    static func checkEncrypted(_ path: String) throws(RequestFailure) {
        let header = try header(of: path)
        guard header.count == plainHeader.count, header != plainHeader else {
            throw RequestFailure(
                .wrotePlainText,
                "the library did not encrypt \(path), which is removed: the library is not a working SQLCipher")
        }
    }

    static func fileFailure(_ what: String, _ path: String) -> RequestFailure {
        let code = errno
        let reason = "cannot \(what) \(path): \(String(cString: strerror(code)))"
        switch code {
        case ENOENT: return RequestFailure(.notFound, reason)
        case ENOSPC, EDQUOT: return RequestFailure(.full, reason)
        case EROFS, EACCES, EPERM: return RequestFailure(.readOnly, reason)
        default: return RequestFailure(.inputOutput, reason)
        }
    }

    /// SQLITE_IOERR_SHORT_READ
    private static let shortRead: Int32 = 522

    /// Returns the failure for SQLite's result code.
    static func failure(_ library: CipherLibrary, _ handle: Handle, _ code: Int32) -> RequestFailure {
        let extended = library.extendedCode(handle)
        let result = extended & 0xFF == code & 0xFF ? extended : code
        let message = library.message(handle).map { String(cString: $0) } ?? ""
        let kind: RequestFailure.Code =
            switch result & 0xFF {
            case 5, 6: .busy
            case 7: .noMemory
            case 8: .readOnly
            case 9: .cancelled
            case 10 where result == shortRead: .damaged
            case 10: .inputOutput
            case 11, 26: .damaged
            case 13: .full
            case 14: .notFound
            case 18: .tooLarge
            case 19, 20: .constraint
            case 23: .refused
            default: .statement
            }
        return RequestFailure(kind, message, resultCode: result)
    }

    /// From now on statements cannot reach other files, and cannot change the settings that keep plain text from the
    /// disk. Keys come in requests of their own.
    func confine() throws(RequestFailure) {
        let code = library.setAuthorizer(handle, refuseUnsafe, nil)
        guard code == ResultCode.ok else { throw Self.failure(library, handle, code) }
    }
}

/// An authorizer (sqlite3_set_authorizer).
private func refuseUnsafe(
    _: UnsafeMutableRawPointer?, _ action: Int32, _ first: Text?, _ second: Text?, _: Text?, _: Text?
) -> Int32 {
    let (allowed, denied): (Int32, Int32) = (0, 1)
    guard let first else { return action == 24 ? denied : allowed }
    switch action {
    case 24:
        // SQLITE_ATTACH: VACUUM attaches a temporary database without a name.
        return first.pointee == 0 ? allowed : denied
    case 19:
        // SQLITE_PRAGMA
        let name = String(cString: first).lowercased()
        if name == "temp_store" {
            guard let second else { return allowed }
            return ["memory", "2"].contains(String(cString: second).lowercased()) ? allowed : denied
        }
        if ["cipher_version", "cipher_provider", "cipher_provider_version", "cipher_integrity_check"].contains(name) {
            return allowed
        }
        let isUnsafe =
            name.hasPrefix("cipher") || name.hasSuffix("key") || name == "temp_store_directory"
            || name == "data_store_directory" || name == "hexkey" || name == "hexrekey"
        return isUnsafe ? denied : allowed
    case 31:
        // SQLITE_FUNCTION, whose name comes second.
        let name = second.map { String(cString: $0).lowercased() }
        return name == "load_extension" || name == "sqlcipher_export" ? denied : allowed
    default:
        return allowed
    }
}
