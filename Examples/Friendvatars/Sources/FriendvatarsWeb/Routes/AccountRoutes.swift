import Foundation
import FriendvatarsKit
import Hummingbird
import HummingbirdCredentials

/// The account itself: looking at it, deleting it.
struct AccountRoutes: Sendable {
    let app: FriendvatarsApp
    let pages: Pages
    let cookie: SessionCookie
    let device: SessionCookie

    func add(to group: RouterGroup<AppContext>) {
        group.get("/account") { _, context in try await page(context) }
        group.post("/account/delete", use: delete)
    }

    private struct Page: Sendable {
        let account: AccountHeader
        let email: String
        let form: FormContent
    }

    private func page(
        _ context: AppContext, problem: String? = nil, status: HTTPResponse.Status = .ok
    ) async throws -> Response {
        guard let account = try await app.account(context.account()) else { throw HTTPError(.unauthorized) }
        let token = pages.token(context)
        return try pages.render(
            .account,
            Page(
                account: AccountHeader(name: account.name, token: token), email: account.email.text,
                form: DeletionForm.content(token, problem: problem)), status: status)
    }

    @Sendable private func delete(_ request: Request, _ context: AppContext) async throws -> Response {
        let form = try await request.decode(as: DeletionForm.self, context: context)
        guard let password = form.password, !password.isEmpty else {
            return try await page(context, problem: "Please enter your password.", status: .unprocessableContent)
        }
        do {
            try await app.deleteAccount(
                context.account(), password: password, from: context.client,
                device: device.text(in: request))
            return .farewell("/sign-up?deleted", cookie)
        } catch let failure as SignInFailure {
            let sentence = failure == .wrong ? "The password is wrong." : failure.sentence
            return try await page(context, problem: sentence, status: failure.status)
        }
    }
}
