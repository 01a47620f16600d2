import Foundation

// Safe to share between threads, as `nonisolated(unsafe)` claims: each constant is a `let` that holds an object of
// exactly the class NSString (ConstantsTests), and only NSMutableString has operations that change a string. The
// class itself cannot promise it, because subclasses can change.

// What to return.

/// Return the value. Boolean.
nonisolated(unsafe) public let kSecReturnData: CFString = "r_Data"
/// Return the attributes as a dictionary. Boolean.
nonisolated(unsafe) public let kSecReturnAttributes: CFString = "r_Attributes"
/// Return a reference: ``SecKey``, ``SecCertificate`` or ``SecIdentity``. Boolean.
nonisolated(unsafe) public let kSecReturnRef: CFString = "r_Ref"
/// Return a persistent reference, data that can be stored. Boolean.
nonisolated(unsafe) public let kSecReturnPersistentRef: CFString = "r_PersistentRef"

// Values.

/// The key of the item's value. Data.
nonisolated(unsafe) public let kSecValueData: CFString = "v_Data"
/// The key of a reference.
nonisolated(unsafe) public let kSecValueRef: CFString = "v_Ref"
/// The key of a persistent reference. Data.
nonisolated(unsafe) public let kSecValuePersistentRef: CFString = "v_PersistentRef"

// How to match.

/// The key of how many results to return. One of the values below or a number.
nonisolated(unsafe) public let kSecMatchLimit: CFString = "m_Limit"
/// One result, the default. The result is not wrapped in an array.
nonisolated(unsafe) public let kSecMatchLimitOne: CFString = "m_LimitOne"
/// All results, as an array.
nonisolated(unsafe) public let kSecMatchLimitAll: CFString = "m_LimitAll"
/// Accepted and, as in Apple's keychain, without effect. Boolean.
nonisolated(unsafe) public let kSecMatchCaseInsensitive: CFString = "m_CaseInsensitive"
/// Only certificates with this e-mail address. String.
nonisolated(unsafe) public let kSecMatchEmailAddressIfPresent: CFString = "m_EmailAddressIfPresent"
/// Only internet passwords for this host or a subdomain of it. String.
nonisolated(unsafe) public let kSecMatchHostOrSubdomainOfHost: CFString = "m_HostOrSubdomainOfHost"
/// Only certificates that one of these names issued. Array of DER-encoded names.
nonisolated(unsafe) public let kSecMatchIssuers: CFString = "m_Issuers"
/// Accepted and without effect.
nonisolated(unsafe) public let kSecMatchItemList: CFString = "m_ItemList"
/// A policy; certificates and identities only.
nonisolated(unsafe) public let kSecMatchPolicy: CFString = "m_Policy"
/// Accepted and without effect.
nonisolated(unsafe) public let kSecMatchSearchList: CFString = "m_SearchList"
/// Accepted and without effect. String.
nonisolated(unsafe) public let kSecMatchSubjectContains: CFString = "m_SubjectContains"
/// Only certificates that are trusted. Boolean.
nonisolated(unsafe) public let kSecMatchTrustedOnly: CFString = "m_TrustedOnly"
/// Only certificates that are valid at this time. Date, or null for now.
nonisolated(unsafe) public let kSecMatchValidOnDate: CFString = "m_ValidOnDate"

// How to go about it.

/// The key of an authentication context, which may have been evaluated before.
nonisolated(unsafe) public let kSecUseAuthenticationContext: CFString = "u_AuthCtx"
/// The key of whether a person may be asked; see the values below.
nonisolated(unsafe) public let kSecUseAuthenticationUI: CFString = "u_AuthUI"
/// A person may be asked. The default.
nonisolated(unsafe) public let kSecUseAuthenticationUIAllow: CFString = "u_AuthUIA"
/// Fail with ``errSecInteractionNotAllowed`` instead of asking.
nonisolated(unsafe) public let kSecUseAuthenticationUIFail: CFString = "u_AuthUIF"
/// Leave out items that need a person. `SecItemCopyMatching` only.
nonisolated(unsafe) public let kSecUseAuthenticationUISkip: CFString = "u_AuthUIS"
/// Accepted and without effect: this is the data protection keychain. Boolean.
nonisolated(unsafe) public let kSecUseDataProtectionKeychain: CFString = "nleg"
/// Refused by this keychain, as by the data protection keychain.
nonisolated(unsafe) public let kSecUseItemList: CFString = "u_ItemList"
/// Like ``kSecUseAuthenticationUIFail`` when true. Boolean, deprecated by Apple.
nonisolated(unsafe) public let kSecUseNoAuthenticationUI: CFString = "u_NoAuthUI"
/// The key of what a prompt says. String, deprecated by Apple.
nonisolated(unsafe) public let kSecUseOperationPrompt: CFString = "u_OpPrompt"
/// Accepted and without effect: there is one keychain. Boolean.
nonisolated(unsafe) public let kSecUseUserIndependentKeychain: CFString = "u_UserIndependentKeychain"

// Shared web credentials and password rules.

/// The key of the password in a shared web credential.
nonisolated(unsafe) public let kSecSharedPassword: CFString = "spwd"
/// The key of the characters a generated password may have.
nonisolated(unsafe) public let kSecPasswordAllowedCharacters: CFString = "PasswordAllowedCharacters"
/// The key of the greatest length of a generated password.
nonisolated(unsafe) public let kSecPasswordMaxLength: CFString = "PasswordMaxLength"
/// The key of the least length; Apple's source gives it the same string as the greatest.
nonisolated(unsafe) public let kSecPasswordMinLength: CFString = "PasswordMaxLength"
/// The key of the characters a generated password must have.
nonisolated(unsafe) public let kSecPasswordRequiredCharacters: CFString = "PasswordRequiredCharacters"
