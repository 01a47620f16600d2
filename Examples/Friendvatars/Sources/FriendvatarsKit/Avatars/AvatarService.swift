import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// A service that has pictures of people by a hash of their e-mail address, as Gravatar and Libravatar do.
public struct AvatarService: Sendable {
    /// What a service said of an address.
    enum Answer: Sendable {
        case picture(Avatar)
        /// It has none.
        case nothing
    }

    private let template: String
    private let form: AvatarHashForm
    private let client: HTTPClient

    /// How long a picture may take. A browser that waits for a page waits for the picture too.
    private static let patience = TimeAmount.seconds(5)

    /// - Parameters:
    ///   - address: Where the pictures are: a URL in which `{hash}` stands for the hash, such as
    ///     `https://seccdn.libravatar.org/avatar/{hash}?s=160&d=404`.
    ///   - form: Which hash the service wants.
    ///   - client: What fetches them; made by ``makeClient()``.
    /// - Returns: Nil if the address is none.
    public init?(address: String, form: AvatarHashForm, client: HTTPClient) {
        guard Self.host(of: address) != nil else { return nil }
        (template, self.form, self.client) = (address, form, client)
    }

    /// Who is asked at an address; nil if it is none.
    public static func host(of address: String) -> String? {
        guard address.contains("{hash}"),
            let url = URL(string: address.replacingOccurrences(of: "{hash}", with: "0")),
            url.scheme == "https" || url.scheme == "http"
        else { return nil }
        return url.host()
    }

    /// Gravatar's own.
    public static let gravatar = "https://www.gravatar.com/avatar/{hash}?s=160&d=404&r=g"

    /// A client that goes where it was told to and nowhere else. To be shut down in the end.
    public static func makeClient() -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.timeout = .init(connect: .seconds(3), read: patience)
        return HTTPClient(configuration: configuration)
    }

    /// - Throws: When the service cannot be reached, or says something that is no answer.
    func avatar(of email: EmailAddress) async throws -> Answer {
        var request = HTTPClientRequest(
            url: template.replacingOccurrences(of: "{hash}", with: email.avatarHash(form)))
        request.headers.add(name: "accept", value: "image/png, image/jpeg, image/webp, image/gif")
        // The client's own deadline ends with the head of an answer; a body may come byte by byte.
        return try await withThrowingTaskGroup(of: Answer.self) { group in
            group.addTask { [request] in try await answer(to: request) }
            group.addTask {
                try await Task.sleep(for: .nanoseconds(Self.patience.nanoseconds))
                throw AvatarFailure.tooSlow
            }
            defer { group.cancelAll() }
            guard let first = try await group.next() else { throw AvatarFailure.tooSlow }
            return first
        }
    }

    private func answer(to request: HTTPClientRequest) async throws -> Answer {
        let response = try await client.execute(request, timeout: Self.patience)
        switch response.status {
        case .ok:
            let body = try await response.body.collect(upTo: Avatar.maximalSize)
            guard let avatar = Avatar(fetched: Data(buffer: body)) else { throw AvatarFailure.noPicture }
            return .picture(avatar)
        case .notFound: return .nothing
        default: throw AvatarFailure.status(response.status.code)
        }
    }
}

/// Why a service gave no picture.
enum AvatarFailure: Error {
    case noPicture
    case tooSlow
    case status(UInt)
}

extension Data {
    init(buffer: ByteBuffer) { self = Data(buffer.readableBytesView) }
}
