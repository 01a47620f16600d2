import Foundation
import Hummingbird
import HummingbirdCredentials
import NIOCore

/// What is known of a request beside the request.
public struct AppContext: FormRequestContext {
    public var coreContext: CoreRequestContextStorage
    public var signedIn: SignedIn?
    public var formBinding = ""
    /// The address that the request came from.
    var client: String?

    /// No form of this app is larger, in bytes.
    public var maxUploadSize: Int { 16_384 }
    public var requestDecoder: URLEncodedFormDecoder { URLEncodedFormDecoder() }

    public init(source: Source) {
        coreContext = .init(source: source)
        client = source.channel.remoteAddress?.ipAddress
    }

    /// The number of the account that is signed in.
    ///
    /// - Throws: An error with status 401 for nobody.
    func account() throws -> UUID {
        guard let id = signedIn.flatMap({ UUID(uuidString: $0.account) }) else { throw HTTPError(.unauthorized) }
        return id
    }
}
