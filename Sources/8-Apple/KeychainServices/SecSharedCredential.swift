import Bytes
import Foundation

// Shared web credentials are the passwords that Safari and an app of the same web site share. There is no such store
// here, so that storing and asking for one fails. `kSecSharedPassword` is with the other constants.

/// Fails: there is no store for the passwords of web sites.
///
/// - Parameters:
///   - fqdn: The host name of the web site.
///   - account: The account's name.
///   - password: The password; `nil` to remove it.
///   - completionHandler: Called before this function returns, with an error whose code is ``errSecUnimplemented``.
public func SecAddSharedWebCredential(
    _ fqdn: CFString, _ account: CFString, _ password: CFString?, _ completionHandler: @escaping (CFError?) -> Void
) {
    completionHandler(noSharedCredentials)
}

/// Fails: there is no store for the passwords of web sites. Deprecated by Apple.
///
/// - Parameters:
///   - fqdn: The host name of the web site; `nil` for those of the program.
///   - account: The account's name; `nil` for all.
///   - completionHandler: Called before this function returns, with an empty array and an error whose code is
///     ``errSecUnimplemented``.
public func SecRequestSharedWebCredential(
    _ fqdn: CFString?, _ account: CFString?, _ completionHandler: @escaping (CFArray?, CFError?) -> Void
) {
    completionHandler(NSArray(), noSharedCredentials)
}

private var noSharedCredentials: CFError {
    securityError(errSecUnimplemented, "This system has no store for passwords that web sites and programs share.")
}

/// A random password for people: four groups of three characters with hyphens between them.
///
/// Letters and digits that look like another are left out, as Apple's SecSharedCredential.h says. There is at least one
/// small letter, one capital letter and one digit. The password has some 68 bits of entropy.
@discardableResult
public func SecCreateSharedWebCredentialPassword() -> CFString? {
    let sets = ["abcdefghkmnopqrstuvwxy", "ABCDEFGHJKLMNPQRSTUVWXYZ", "3456789"]
    let alphabet = Array(sets.joined())
    // The kernel's (getrandom(2)).
    var random = SystemRandomNumberGenerator()
    while true {
        let characters = (0..<12).map { _ in
            alphabet[Int(clamping: random.next(upperBound: UInt(clamping: alphabet.count)))]
        }
        // All passwords that pass are equally likely.
        guard sets.allSatisfy({ $0.contains(where: characters.contains) }) else { continue }
        let groups = stride(from: 0, to: characters.count, by: 3).map { String(characters[$0..<$0 + 3]) }
        return groups.joined(separator: "-") as NSString
    }
}
