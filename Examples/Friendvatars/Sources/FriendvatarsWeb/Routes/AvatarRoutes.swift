import Foundation
import FriendvatarsKit
import Hummingbird

/// Pictures, by the number of a friend: nothing in the address says whose it is, and no part of it is part of a path on
/// the disk.
struct AvatarRoutes: Sendable {
    let app: FriendvatarsApp

    func add(to group: RouterGroup<AppContext>) {
        group.get("/avatars/:friend") { _, context in
            let account = try context.account()
            let name = context.parameters.get("friend")
            let isOwn = name == "me"
            guard let avatar = try await avatar(name, account) else {
                throw HTTPError(.notFound)
            }
            return Response(
                status: .ok,
                headers: [
                    .contentType: avatar.kind.rawValue, .contentLength: String(avatar.bytes.count),
                    // The same address is somebody else's picture after another sign-in.
                    .cacheControl: isOwn ? "no-store" : "private, max-age=3600",
                    // A picture that is opened by itself runs nothing and loads nothing.
                    .contentSecurityPolicy: "default-src 'none'; style-src 'unsafe-inline'; sandbox",
                ],
                body: .init(byteBuffer: ByteBuffer(bytes: avatar.bytes)))
        }
    }

    private func avatar(_ name: String?, _ account: UUID) async throws -> Avatar? {
        if name == "me" {
            return try await app.ownAvatar(of: account)
        }
        guard let id = name.flatMap({ UUID(uuidString: $0) }) else { return nil }
        return try await app.avatar(of: id, for: account)
    }
}
