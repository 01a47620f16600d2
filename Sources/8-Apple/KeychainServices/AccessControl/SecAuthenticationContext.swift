/// What the keychain needs to know of an authentication context given as
/// ``kSecUseAuthenticationContext``. `LAContext` has these members under these names.
public protocol _SecAuthenticationContext: AnyObject {
    /// Whether operations must fail instead of asking a person.
    var interactionNotAllowed: Bool { get }
    /// What a prompt says; empty for the keychain's own words.
    var localizedReason: String { get }
    /// What the button that gives a prompt up is called; nil for the prompt's own word.
    var localizedCancelTitle: String? { get }
    /// What the passcode is called where it is the other way; nil for the prompt's own word.
    var localizedFallbackTitle: String? { get }
    /// Under what the vault keeps what the context was granted.
    var _keychainState: _SecAuthenticationState { get }
}
