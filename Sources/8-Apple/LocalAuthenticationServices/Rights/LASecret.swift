import Foundation
import KeychainModel

/// The secret that was saved with a persisted right: an item of the keychain under the right's requirement.
public final class LASecret: NSObject, Sendable {
    private let right: StoredRight
    private let authorization: RightAuthorization

    init(_ right: StoredRight, _ authorization: RightAuthorization) {
        self.right = right
        self.authorization = authorization
        super.init()
    }

    /// Reads the secret. Asks nobody: the right has to be authorized.
    ///
    /// - Parameter completion: Called once, on a queue of this module, with the secret, or an ``LAError``:
    ///   ``LAError/Code/notInteractive`` if the right is not authorized, ``LAError/Code/resourceNotFound`` if no secret
    ///   was saved with it.
    public func loadData(completion: @escaping @Sendable (Data?, (any Error)?) -> Void) {
        let context = authorization.context
        answer(completion) { [right] session in
            context._keychainState.use(in: session)
            let options = AuthenticationOptions(interaction: .fail, context: context._keychainState.identifier)
            guard let secret = try RightItems(session).secret(of: right, options) else {
                throw LAError(.resourceNotFound, saying: "no secret is kept with the right")
            }
            return secret
        }
    }

    /// The secret. Nobody is asked: the right has to be authorized.
    ///
    /// - Throws: ``LAError``: ``LAError/Code/notInteractive`` if the right is not authorized,
    ///   ``LAError/Code/resourceNotFound`` if no secret was saved with it.
    public var rawData: Data {
        get async throws { try await value { self.loadData(completion: $0) } }
    }
}
