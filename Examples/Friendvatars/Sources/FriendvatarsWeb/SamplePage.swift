import Foundation
import Hummingbird
import HummingbirdCredentials

/// The page of friends with people who do not exist, without a database: what the page alone costs.
package struct SamplePage: Sendable {
    private let pages: Pages
    private let page: FriendRoutes.Page

    package init(friends: Int) throws {
        pages = try Pages(tokens: FormTokens())
        // As long as a real one.
        let token = String(repeating: "x", count: 64)
        page = FriendRoutes.Page(
            account: AccountHeader(name: "Ada Lovelace", token: token), hasFriends: friends > 0,
            friends: (0..<friends).map {
                .init(id: UUID().uuidString, name: "Friend \($0)", email: "friend\($0)@example.com", token: token)
            }, damaged: [], form: FriendForm().content(token))
    }

    package func render() throws -> Response { try pages.render(.friends, page) }
}
