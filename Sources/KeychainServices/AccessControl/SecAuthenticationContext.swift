/// What the keychain needs to know of an authentication context given as
/// ``kSecUseAuthenticationContext``. `LAContext` has these members under these names.
public protocol _SecAuthenticationContext: AnyObject {
    /// Whether operations must fail instead of asking a person.
    var interactionNotAllowed: Bool { get }
    /// What a prompt says; empty for the keychain's own words.
    var localizedReason: String { get }
    /// Under what the vault keeps what the context was granted.
    var _keychainState: _SecAuthenticationState { get }
}
