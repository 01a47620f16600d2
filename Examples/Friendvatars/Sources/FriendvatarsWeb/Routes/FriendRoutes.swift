import Foundation
import FriendvatarsKit
import Hummingbird

/// The list of friends.
struct FriendRoutes: Sendable {
    let app: FriendvatarsApp
    let pages: Pages

    func add(to group: RouterGroup<AppContext>) {
        group.get("/friends") { _, context in
            try await page(context, FriendForm().content(pages.token(context)))
        }
        group.post("/friends", use: addFriend)
        group.post("/friends/remove", use: removeFriend)
    }

    struct Page: Sendable {
        let account: AccountHeader
        let hasFriends: Bool
        let friends: [Line]
        let damaged: [DamagedLine]
        let form: FormContent
    }

    struct Line: Sendable {
        let id: String
        /// Escaped.
        let name: String
        let email: String
        let token: String

        init(id: String, name: String, email: String, token: String) {
            (self.id, self.name, self.email, self.token) = (id, name.escapedForHTML, email, token)
        }
    }

    /// An entry that cannot be read.
    struct DamagedLine: Sendable {
        let id: String
        let token: String
    }

    private func page(
        _ context: AppContext, _ form: FormContent, status: HTTPResponse.Status = .ok
    ) async throws -> Response {
        let id = try context.account()
        guard let (account, list) = try await app.accountAndList(id) else { throw HTTPError(.unauthorized) }
        let token = pages.token(context)
        let lines = list.friends.map { Line(id: $0.id.uuidString, name: $0.name, email: $0.email.text, token: token) }
        return try pages.render(
            .friends,
            Page(
                account: AccountHeader(name: account.name, token: token),
                hasFriends: !list.friends.isEmpty || !list.damaged.isEmpty,
                friends: lines, damaged: list.damaged.map { DamagedLine(id: $0.uuidString, token: token) }, form: form),
            status: status)
    }

    @Sendable private func addFriend(_ request: Request, _ context: AppContext) async throws -> Response {
        let form = try await request.decode(as: FriendForm.self, context: context)
        do {
            try await app.friends.add(email: form.email ?? "", name: form.name ?? "", to: context.account())
            return .seeOther("/friends")
        } catch let problems as FormProblems {
            return try await page(
                context, form.content(pages.token(context), problems), status: .unprocessableContent)
        }
    }

    @Sendable private func removeFriend(_ request: Request, _ context: AppContext) async throws -> Response {
        let form = try await request.decode(as: RemovalForm.self, context: context)
        if let id = form.friend.flatMap({ UUID(uuidString: $0) }) {
            try await app.removeFriend(id, of: context.account())
        }
        return .seeOther("/friends")
    }
}
