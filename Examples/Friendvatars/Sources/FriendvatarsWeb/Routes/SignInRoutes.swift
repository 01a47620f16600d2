import Credentials
import Foundation
import FriendvatarsKit
import HTTPTypes
import Hummingbird
import HummingbirdCredentials

/// Signing up, in and out.
struct SignInRoutes: Sendable {
    let app: FriendvatarsApp
    let pages: Pages
    let cookie: SessionCookie
    let device: SessionCookie
    /// How long a browser keeps the cookie that it is known by.
    static let deviceLifetime = Duration.seconds(365 * 86_400)
    /// How long a browser keeps the cookie.
    static let lifetime = Duration.seconds(14 * 86_400)

    func add(to router: Router<AppContext>) {
        router.get("/sign-in") { request, context in
            if context.signedIn != nil { return Response.seeOther("/friends") }
            let isFarewell = request.uri.queryParameters["out"] != nil
            return try signInPage(
                SignInForm().content(pages.token(context)), notice: isFarewell ? "You are signed out." : nil)
        }
        router.post("/sign-in", use: signIn)
        router.get("/sign-up") { request, context in
            if context.signedIn != nil { return Response.seeOther("/friends") }
            let isFarewell = request.uri.queryParameters["deleted"] != nil
            return try signUpPage(
                SignUpForm().content(pages.token(context)),
                notice: isFarewell ? "Your account is deleted, with all that belonged to it." : nil)
        }
        router.post("/sign-up", use: signUp)
        router.post("/sign-out", use: signOut)
        router.post("/sign-out/everywhere") { _, context in
            if let account = context.signedIn?.account {
                try await leaving { try await app.sessions.revokeAll(of: account) }
            }
            return Response.farewell("/sign-in?out", cookie)
        }
    }

    private struct SignInPage: Sendable {
        let notice: String?
        let form: FormContent
    }

    private struct SignUpPage: Sendable {
        let notice: String?
        let form: FormContent
    }

    private func signInPage(
        _ form: FormContent, notice: String? = nil, status: HTTPResponse.Status = .ok
    ) throws -> Response {
        try pages.render(.signIn, SignInPage(notice: notice, form: form), status: status)
    }

    private func signUpPage(
        _ form: FormContent, notice: String? = nil, status: HTTPResponse.Status = .ok
    ) throws -> Response {
        try pages.render(.signUp, SignUpPage(notice: notice, form: form), status: status)
    }

    @Sendable private func signIn(_ request: Request, _ context: AppContext) async throws -> Response {
        let form = try await request.decode(as: SignInForm.self, context: context)
        guard form.email?.isEmpty == false, form.password?.isEmpty == false else {
            let problem = "Please enter your e-mail address and your password."
            return try signInPage(form.content(pages.token(context), problem: problem), status: .unprocessableContent)
        }
        do {
            let account = try await app.accounts.signIn(
                email: form.email ?? "", password: form.password ?? "", from: context.client,
                device: device.text(in: request))
            return try await welcome(account, request)
        } catch let failure as SignInFailure {
            var response = try signInPage(
                form.content(pages.token(context), problem: failure.sentence), status: failure.status)
            if let seconds = failure.retryAfter { response.headers[.retryAfter] = String(seconds) }
            return response
        }
    }

    @Sendable private func signUp(_ request: Request, _ context: AppContext) async throws -> Response {
        let form = try await request.decode(as: SignUpForm.self, context: context)
        do {
            let account = try await app.accounts.signUp(
                email: form.email ?? "", name: form.name ?? "", password: form.password ?? "",
                from: context.client)
            return try await welcome(account, request)
        } catch let problems as FormProblems {
            return try signUpPage(form.content(pages.token(context), problems), status: .unprocessableContent)
        } catch let failure as SignInFailure {
            let problems = FormProblems([.form: failure.sentence])
            return try signUpPage(form.content(pages.token(context), problems), status: failure.status)
        }
    }

    /// A token that nobody has seen before, whatever the browser came with: nobody can be given a session to sign in
    /// to.
    private func welcome(_ account: Account, _ request: Request) async throws -> Response {
        if let former = cookie.text(in: request) { try await app.sessions.revoke(former) }
        var response = Response.seeOther("/friends")
        cookie.set(try await app.sessions.issue(for: account.id.uuidString), for: Self.lifetime, in: &response)
        device.set(app.accounts.deviceToken(for: account), for: Self.deviceLifetime, in: &response)
        return response
    }

    @Sendable private func signOut(_ request: Request, _ context: AppContext) async throws -> Response {
        if let token = cookie.text(in: request) { try await leaving { try await app.sessions.revoke(token) } }
        return Response.farewell("/sign-in?out", cookie)
    }

    /// Where a session cannot be ended, as on a full disk, the browser loses its token all the same.
    private func leaving(_ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch {
            var response = Response(status: .internalServerError)
            cookie.remove(from: &response)
            throw HTTPError(.internalServerError, headers: response.headers)
        }
    }
}

extension Response {
    /// Another page, to be asked for with GET.
    static func seeOther(_ page: String) -> Response {
        Response(status: .seeOther, headers: [.location: page, .cacheControl: "no-store"])
    }

    /// Another page, after which nothing of the account is in the browser.
    static func farewell(_ page: String, _ cookie: SessionCookie) -> Response {
        var response = seeOther(page)
        // The pictures, which the browser may keep while somebody is signed in.
        response.headers[.clearSiteData] = "\"cache\", \"storage\""
        cookie.remove(from: &response)
        return response
    }
}

extension HTTPField.Name {
    /// Clear Site Data (W3C), section 3. A token of RFC 9110, as it stands here.
    fileprivate static let clearSiteData = HTTPField.Name("Clear-Site-Data")!
}
