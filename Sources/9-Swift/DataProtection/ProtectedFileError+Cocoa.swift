import DataProtectionEssentials
import Foundation

extension ProtectedFileError {
    /// The same as Foundation's methods report it, which is what ``ProtectedFileManager`` throws.
    ///
    /// A closed class is `fileReadNoPermission` or `fileWriteNoPermission`, as on iOS. The underlying error is this
    /// one.
    ///
    /// - Parameter reading: Whether a file was to be read; what kept it from being written has codes of its own.
    public func cocoaError(reading: Bool) -> CocoaError {
        let code: CocoaError.Code =
            switch self.code {
            case .fileNotFound: reading ? .fileReadNoSuchFile : .fileNoSuchFile
            case .fileExists: .fileWriteFileExists
            case .locked, .permissionDenied, .accessDenied, .wrongPassword:
                reading ? .fileReadNoPermission : .fileWriteNoPermission
            case .diskFull: .fileWriteOutOfSpace
            case .readOnly: .fileWriteVolumeReadOnly
            case .damaged: .fileReadCorruptFile
            case .busy: .fileLocking
            case .tooLarge where reading: .fileReadTooLarge
            case .unsupported, .invalidRequest: .featureUnsupported
            case .taskCanceled: .userCancelled
            default: reading ? .fileReadUnknown : .fileWriteUnknown
            }
        var information: [String: Any] = [NSUnderlyingErrorKey: self, NSLocalizedDescriptionKey: message]
        if let path {
            information[NSFilePathErrorKey] = path
            information[NSURLErrorKey] = URL(filePath: path)
        }
        return CocoaError(code, userInfo: information)
    }
}
