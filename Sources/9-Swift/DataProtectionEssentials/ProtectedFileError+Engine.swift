import CLibrary
import ProtectedFiles
import VaultInterface

extension ProtectedFileError {
    /// The public face of the engine's error, in its own words.
    ///
    /// - Parameter path: The file, where the error does not name it.
    init(_ error: SealedFileError, at path: String? = nil) {
        if case .refused(let refusal) = error {
            self.init(refusal, at: path)
            return
        }
        let (code, named): (Code, String?) =
            switch error {
            case .notFound(let path): (.fileNotFound, path)
            case .alreadyExists(let path): (.fileExists, path)
            case .notRegular(let path), .symbolicLink(let path): (.notRegularFile, path)
            case .hardLinked(let path, _): (.hardLinked, path)
            case .ofVault(let path): (.unsupported, path)
            case .alreadyProtected(let path): (.alreadyProtected, path)
            case .notProtected(let path), .notEncryptedWithPassword(let path), .encryptedWithPassword(let path):
                (.notProtected, path)
            case .changed(let path), .inUse(let path): (.busy, path)
            case .unsupportedVersion(let path, _), .tooCostly(let path, _), .unreadable(let path, _):
                (.unsupported, path)
            case .wrongPassword(let path): (.wrongPassword, path)
            case .truncated(let path), .damaged(let path, _): (.damaged, path)
            case .tooLarge(let path, _): (.tooLarge, path)
            case .keyExhausted(let path): (.keyExhausted, path)
            case .openedForReading(let path): (.wrongMode, path)
            case .keyDiscarded(let path): (.locked, path)
            case .closed(let path): (.closed, path)
            case .diskFull(let path): (.diskFull, path)
            case .memoryUnavailable: (.outOfMemory, nil)
            case .system(_, let path, let number): (Code(errno: number), path)
            default: (.inputOutput, nil)
            }
        self.init(code, path: named ?? path, message: error.description)
    }

    /// Why the vault gave no key.
    init(_ error: VaultError, at path: String? = nil) {
        let code: Code =
            switch error {
            case .interactionNotAllowed: .locked
            case .accessDenied: .accessDenied
            case .corruptFileKey: .damaged
            case .unusableVault, .corruptVault: .unusableVault
            case .readOnly: .readOnly
            case .diskFull: .diskFull
            case .busy: .busy
            case .unsupported: .unsupported
            case .invalidRequest: .invalidRequest
            case .memoryUnavailable: .outOfMemory
            default: .inputOutput
            }
        let message = path.map { "\($0): \(error.description)" } ?? error.description
        self.init(code, path: path, message: message)
    }

    /// What a function of the C library said.
    init(_ operation: String, _ path: String, errno number: Int32) {
        self.init(
            Code(errno: number), path: path,
            message: "cannot \(operation) \(path): \(String(cString: strerror(number)))")
    }

    package init(_ cause: any Error, at path: String?) {
        switch cause {
        case let error as ProtectedFileError: self = error
        case let error as SealedFileError: self.init(error, at: path)
        case let error as VaultError: self.init(error, at: path)
        default: self.init(.inputOutput, path: path, message: "\(path ?? "a file"): \(cause)")
        }
    }
}

extension ProtectedFileError.Code {
    /// The kind that a number of errno(3) stands for.
    init(errno number: Int32) {
        self =
            switch number {
            case ENOENT: .fileNotFound
            case EEXIST: .fileExists
            case EACCES, EPERM: .permissionDenied
            case ENOSPC, EDQUOT: .diskFull
            case EROFS: .readOnly
            case EISDIR, ENOTDIR, ELOOP: .notRegularFile
            case ENOTSUP, ENOSYS: .unsupported
            case EFBIG: .tooLarge
            case ENOMEM: .outOfMemory
            default: .inputOutput
            }
    }
}
