import CLibrary
import CSQLite
import DataProtectionEssentials
import DatabasePages
import DatabaseVFS
import StoredKeys
import SystemSQLite
import VaultInterface

extension ProtectedDatabaseError {
    package init(_ cause: any Error, at path: String?) {
        let place = path ?? "the database"
        switch cause {
        case let error as ProtectedDatabaseError: self = error
        case let error as StoredKeyError: self.init(error, at: place)
        case let error as ProtectedFileError: self.init(error)
        case let error as RegistrationError: self.init(error, at: place)
        case let error as VFSFailure: self.init(error, at: place)
        default: self.init(cause, nil, at: place)
        }
    }

    init(_ error: StoredKeyError, at path: String) {
        let code: Code =
            switch error {
            case .locked: .locked
            case .notAuthenticated: .authenticationFailed
            case .canceled: .userCanceled
            case .accessDenied: .accessDenied
            case .damaged: .damaged
            case .memoryUnavailable: .outOfMemory
            case .vault(.interactionNotAllowed): .locked
            case .vault(.readOnly): .readOnly
            case .vault(.busy): .busy
            case .vault(.diskFull): .diskFull
            case .vault: .unusableVault
            }
        self.init(code, path: path, message: "the key of \(path) is not to be had: \(error)")
    }

    /// The failure of a file that belongs to a database.
    init(_ error: ProtectedFileError) {
        self.init(Code(error.code), path: error.path, message: error.message)
    }

    init(_ error: RegistrationError, at path: String) {
        let code: Code =
            switch error {
            case .otherKey: .busy
            case .noSuchFolder: .fileNotFound
            case .unsuitableSQLite: .unsupported
            }
        self.init(code, path: path, message: error.description)
    }

    init(_ failure: VFSFailure, at path: String) {
        if case .system(let operation, let path, let number) = failure {
            self.init(operation, path, errno: number)
        } else if case .index(.missing(let index)) = failure,
            let name = ProtectedDatabaseFile.formerName(ofIndex: index)
        {
            // In the folder as it was named.
            let former = path.dropLast(Leftovers.split(path).name.count) + name
            self.init(
                Code(failure), path: path,
                message: "\(path) was called \(former), and its page index still is: finish it with "
                    + "`keychain db move \(former) \(path)`")
        } else {
            self.init(Code(failure), path: path, message: failure.description)
        }
    }

    /// What SQLite said, and what the engine says was the reason.
    package init(_ error: any Error, _ failure: VFSFailure?, at path: String) {
        if let failure {
            self.init(failure, at: path)
            return
        }
        guard let error = error as? SQLiteError else {
            self.init(.inputOutput, path: path, message: "\(path): \(error)")
            return
        }
        // Another thread may have taken the engine's own words.
        guard error.extendedCode != Self.revoked else {
            self.init(VFSFailure.revoked(path: path), at: path)
            return
        }
        let code: Code =
            switch error.code {
            case SQLITE_BUSY, SQLITE_LOCKED: .busy
            case SQLITE_FULL: .diskFull
            case SQLITE_NOMEM: .outOfMemory
            case SQLITE_READONLY: .readOnly
            case SQLITE_CANTOPEN, SQLITE_PERM: .permissionDenied
            case SQLITE_NOTADB: .notDatabase
            case SQLITE_CORRUPT: .damaged
            case SQLITE_ERROR where error.needsFoundation: .unsupported
            default: .inputOutput
            }
        let advice =
            switch code {
            case .busy: "\(path) is in use; close it in other programs and try again"
            case .unsupported:
                "\(path): \(error.message): this program lacks it; use ProtectedDatabaseFile in a program that links GRDB"
            default: "\(path): \(error.message)"
            }
        self.init(code, path: path, message: "\(advice) (SQLite \(error.extendedCode))")
    }

    /// SQLITE_IOERR_AUTH, which the engine answers once the key was taken away.
    private static let revoked = SQLITE_IOERR | 28 << 8

    /// What a function of the C library said.
    init(_ operation: String, _ path: String, errno number: Int32) {
        let code: Code =
            switch number {
            case ENOENT: .fileNotFound
            case EEXIST: .fileExists
            case EACCES, EPERM: .permissionDenied
            case EROFS: .readOnly
            case ENOSPC, EDQUOT: .diskFull
            case ENOMEM: .outOfMemory
            default: .inputOutput
            }
        self.init(
            code, path: path, message: "cannot \(operation) \(path): \(String(cString: strerror(number)))")
    }
}

extension ProtectedDatabaseError.Code {
    fileprivate init(_ failure: VFSFailure) {
        self =
            switch failure {
            case .notRegistered: .closed
            case .revoked: .locked
            case .notEncrypted: .notEncrypted
            case .notDatabase: .notDatabase
            case .index(.wrongKey), .wrongKey: .wrongKey
            case .index(.inUse), .inUse: .busy
            case .index(.readOnly): .readOnly
            case .index(.diskFull), .diskFull: .diskFull
            case .page(.memoryUnavailable), .index(.memoryUnavailable), .memoryUnavailable: .outOfMemory
            case .page, .stalePage, .missingPage, .index(.damaged), .index(.missing), .index(.foreign), .foreignLog,
                .incompleteLog, .damagedFrame, .foreignJournal, .damagedJournal:
                .damaged
            case .pageSizeChange: .invalidRequest
            default: .inputOutput
            }
    }

    /// The kinds have the same names where they are the same.
    fileprivate init(_ code: ProtectedFileError.Code) { self.init(code.description) }
}

extension SQLiteError {
    /// Whether a function or an order of texts is missing that GRDB has from Foundation.
    fileprivate var needsFoundation: Bool {
        ["no such collation sequence: ", "no such function: ", "unknown function: "].contains { start in
            message.hasPrefix(start)
                && TextFunctions.isOfFoundation(message.dropFirst(start.count).prefix { $0 != "(" })
        }
    }
}
