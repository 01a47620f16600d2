import FoundationEssentials
import KeychainModel

extension FileProtectionType {
    /// Foundation's name of the class.
    package init(_ fileClass: FileProtectionClass) {
        self =
            switch fileClass {
            case .complete: .complete
            case .completeUnlessOpen: .completeUnlessOpen
            case .completeUntilFirstUserAuthentication: .completeUntilFirstUserAuthentication
            case .none: .none
            }
    }
}

extension FileProtectionClass {
    /// - Throws: ``ProtectedFileError/Code/unsupported`` for a type that there is no class for, such as `inactive`.
    init(_ type: FileProtectionType, for path: String) throws {
        switch type {
        case .complete: self = .complete
        case .completeUnlessOpen: self = .completeUnlessOpen
        case .completeUntilFirstUserAuthentication: self = .completeUntilFirstUserAuthentication
        case .none: self = .none
        default:
            throw ProtectedFileError(
                .unsupported, path: path,
                message: "cannot protect \(path) as '\(type.rawValue)'; use complete, completeUnlessOpen, "
                    + "completeUntilFirstUserAuthentication or none")
        }
    }
}

extension FileProtectionType {
    /// The class that options of `Data.write(to:options:)` ask for; nil if they leave it open.
    init?(_ options: Data.WritingOptions) {
        // One number in the four highest bits, not bits of their own (NSData.h).
        switch options.intersection(.fileProtectionMask) {
        case .completeFileProtection: self = .complete
        case .completeFileProtectionUnlessOpen: self = .completeUnlessOpen
        case .completeFileProtectionUntilFirstUserAuthentication: self = .completeUntilFirstUserAuthentication
        case .noFileProtection: self = .none
        default: return nil
        }
    }
}

extension FileProtectionType? {
    /// Whether the two are the same class, or both nil: on Linux the type is not `Equatable`.
    ///
    /// As with any optional, `.none` alone means nil here; write `FileProtectionType.none`.
    public static func == (left: FileProtectionType?, right: FileProtectionType?) -> Bool {
        left?.rawValue == right?.rawValue
    }

    /// Whether the two differ; see ``==(_:_:)``.
    public static func != (left: FileProtectionType?, right: FileProtectionType?) -> Bool {
        left?.rawValue != right?.rawValue
    }
}

extension FileProtectionType {
    /// Whether the two are the same class; lets one stand in a `case` of a `switch`.
    public static func ~= (pattern: FileProtectionType, value: FileProtectionType) -> Bool {
        pattern.rawValue == value.rawValue
    }
}
