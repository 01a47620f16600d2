import Bytes
import Crypto
import Foundation

/// Makes and checks the tokens by which a server knows a device that has signed in to an account before. Such a device
/// has tries of its own (``SignInThrottle``), so that tries from elsewhere do not make the owner of the account wait.
///
/// ```swift
/// let devices = try DeviceTokens(key: key)
/// let throttle = SignInThrottle(devices: devices)
/// // After each right password, into a cookie that lasts:
/// let cookie = devices.make(for: form.account)
/// ```
///
/// These are the device cookies of OWASP
/// (https://owasp.org/www-community/Slow_Down_Online_Guessing_Attacks_with_Device_Cookies). A token is 16 random bytes
/// and HMAC-SHA256 (RFC 2104) under the key over `device`, a zero byte, these bytes and the account in UTF-8; 64
/// characters of base64url. Nothing is stored for it: it is good for its account, on each server that has the key,
/// until the key changes.
///
/// A token signs nobody in and does not contain the account. An attacker who copies a token gets the tries of that
/// device. Anybody who once knew a password may have kept tokens, and each token allows a few tries. After a break-in,
/// change the key: then every device is unknown until its user signs in again.
public struct DeviceTokens: Sendable {
    private static let nonceSize = 16
    private let key: SymmetricKey

    /// - Parameter key: 32 random bytes, kept where the server keeps its secrets, such as in the keychain.
    /// - Throws: ``CredentialsError/Code/weakKey`` for fewer than 32 bytes.
    public init(key: SymmetricKey) throws {
        guard key.bitCount >= 256 else {
            throw CredentialsError(
                .weakKey, message: "the key for devices has \(key.bitCount) bits; make one of 256 random bits")
        }
        self.key = key
    }

    /// A new token for a device from which somebody has signed in to `account`, as the throttle names it. A secret.
    public func make(for account: String) -> String {
        let nonce = Data([UInt8].random(count: Self.nonceSize))
        return UnpaddedBase64.url.string(
            nonce + HMAC<SHA256>.authenticationCode(for: Self.message(nonce, account), using: key))
    }

    /// Whether `token`, as it was shown, was made for `account` with this key.
    public func isValid(_ token: String, for account: String) -> Bool {
        guard token.utf8.count == 64, let bytes = UnpaddedBase64.url.decode(token.utf8) else { return false }
        let nonce = Data(bytes.prefix(Self.nonceSize))
        return HMAC<SHA256>.isValidAuthenticationCode(
            bytes.dropFirst(Self.nonceSize), authenticating: Self.message(nonce, account), using: key)
    }

    private static func message(_ nonce: Data, _ account: String) -> Data {
        Data("device\0".utf8) + nonce + Data(account.utf8)
    }
}

extension DeviceTokens: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Without the key.
    public var description: String { "DeviceTokens" }
    /// Without the key.
    public var debugDescription: String { description }
    /// Without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
