#if ConfigurationSupport
import Configuration
import Keychain
import KeychainServices

extension KeychainError {
    /// What swift-configuration's own providers say of such a value; their error is not public.
    static func notConvertible(to type: ConfigType) -> KeychainError {
        KeychainError(
            .undecodableValue, status: errSecDecode,
            message:
                "the stored value cannot be read as \(type.rawValue); store it in another form, or ask for another type"
        )
    }

    /// The error with the key in its message, which says where in the configuration to look.
    func named(_ account: String) -> KeychainError {
        KeychainError(code, status: status, message: "configuration key '\(account)': \(message)")
    }
}
#endif
