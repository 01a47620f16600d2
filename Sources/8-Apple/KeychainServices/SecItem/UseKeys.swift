import Access
import Foundation
import KeychainModel
import VaultInterface

/// The `kSecUse…` entries: how the operation goes about its work, and whether a person may be asked.
struct UseKeys {
    private var interaction: AuthenticationOptions.Interaction?
    private var isInteractionForbidden = false
    private var prompt: String?
    private(set) var context: (any _SecAuthenticationContext)?
    private var hasCredentialReference = false
    private(set) var includesTombstones = false

    /// Whether items that need a person are left out.
    var skipsConstrainedItems: Bool { interaction == .skip }

    /// Reads an entry whose key starts with `u`.
    mutating func read(_ key: String, _ value: Any) throws(SecItemFailure) {
        switch key {
        case "u_AuthUI":
            switch value as? String {
            case "u_AuthUIA": interaction = .allow
            case "u_AuthUIF": interaction = .fail
            case "u_AuthUIS": interaction = .skip
            default: throw .parameter
            }
        case "u_NoAuthUI":
            guard let isForbidden = value as? NSNumber else { throw .parameter }
            isInteractionForbidden = isForbidden.boolValue
        case "u_OpPrompt":
            guard let text = value as? String else { throw .parameter }
            prompt = text
        case "u_AuthCtx":
            guard let object = value as? any _SecAuthenticationContext, !hasCredentialReference else {
                throw .parameter
            }
            context = object
        case "u_CredRef":
            guard context == nil else { throw .parameter }
            hasCredentialReference = true
        case "u_Tomb":
            includesTombstones = AttributeCoercion.boolean(value) ?? false
        case "u_CallerName", "u_CertWithIssuers", "u_SyncBubbleKeychain", "u_SystemKeychain",
            "u_SystemKeychainAlways", "u_TokenRawItems", "u_UserIndependentKeychain":
            break
        default:
            // The lists and keychain files of macOS among them: there is one keychain here.
            throw .parameter
        }
    }

    /// Tells the authentication context where it is used. One that was invalidated is refused before anything is looked
    /// for.
    func begin(in session: VaultSession) throws(VaultError) {
        guard let context, !context._keychainState.use(in: session) else { return }
        throw .presence(.invalidContext)
    }

    /// Explicit keys come before what an authentication context says.
    var authentication: AuthenticationOptions {
        var interaction = interaction ?? .allow
        if interaction == .allow, isInteractionForbidden || context?.interactionNotAllowed == true {
            interaction = .fail
        }
        var prompt = prompt
        if prompt == nil, let reason = context?.localizedReason, !reason.isEmpty { prompt = reason }
        return AuthenticationOptions(
            interaction: interaction, prompt: prompt, context: context?._keychainState.identifier,
            applicationPassword: context?._keychainState.applicationPassword,
            titles: PromptTitles(cancel: context?.localizedCancelTitle, passcode: context?.localizedFallbackTitle))
    }
}
