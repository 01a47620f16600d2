/// Why a SecItem call does not do what it was asked: the status it returns.
struct SecItemFailure: Error, Equatable {
    let status: OSStatus

    init(_ status: OSStatus) { self.status = status }

    /// A malformed dictionary or argument.
    static let parameter = SecItemFailure(errSecParam)
    /// An attribute that the item's class does not have.
    static let noSuchAttribute = SecItemFailure(errSecNoSuchAttr)
    static let noSuchClass = SecItemFailure(errSecNoSuchClass)
    /// A combination that this keychain does not implement.
    static let unimplemented = SecItemFailure(errSecUnimplemented)
    static let missingEntitlement = SecItemFailure(errSecMissingEntitlement)
}
