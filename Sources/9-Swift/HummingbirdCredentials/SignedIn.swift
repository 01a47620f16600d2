#if HummingbirdSupport
import Foundation
import Hummingbird

/// The person who sent a request.
public struct SignedIn: Sendable, Hashable {
    /// The account, as `SessionTokens` was told at the sign-in.
    public let account: String
    /// When the person signed in.
    public let begun: Date
    /// What all tokens of this sign-in have in common.
    public let family: UUID
}

/// A request's context that knows who has sent it. ``SessionMiddleware`` fills it in.
public protocol SignInRequestContext: RequestContext {
    /// The person who is signed in; nil if nobody is.
    var signedIn: SignedIn? { get set }
}
#endif
