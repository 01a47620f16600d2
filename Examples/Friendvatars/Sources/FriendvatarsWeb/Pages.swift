import Foundation
import FriendvatarsKit
import Hummingbird
import HummingbirdCredentials
import Mustache

/// Makes pages of templates. What people have typed is escaped here (``Swift/String/escapedForHTML``), and stands in
/// three braces in a template; all else Mustache escapes.
struct Pages: Sendable {
    /// Which page.
    enum Name: String, CaseIterable {
        case about, account, error, friends
        case signIn = "sign-in"
        case signUp = "sign-up"
    }

    private let library: MustacheLibrary
    private let tokens: FormTokens

    /// - Throws: When a template is none, which a test would have found.
    init(tokens: FormTokens) throws {
        self.tokens = tokens
        library = MustacheLibrary(templates: try EmbeddedFiles.templates.mapValues { try MustacheTemplate(string: $0) })
    }

    /// The hidden field of the forms in an answer to a request.
    func token(_ context: AppContext) -> String { tokens.field(for: context) }

    /// A page.
    func render(
        _ name: Name, _ content: some Sendable, status: HTTPResponse.Status = .ok
    ) throws -> Response {
        guard let text = library.render(content, withTemplate: name.rawValue) else {
            throw HTTPError(.internalServerError)
        }
        let buffer = ByteBuffer(string: text)
        return Response(
            status: status,
            headers: [
                .contentType: "text/html; charset=utf-8", .contentLength: String(buffer.readableBytes),
                .cacheControl: "no-store",
            ],
            body: .init(byteBuffer: buffer))
    }
}

/// Who is signed in, for the header of a page.
struct AccountHeader: Sendable {
    /// Escaped.
    let name: String
    let token: String

    init(name: String, token: String) {
        (self.name, self.token) = (name.escapedForHTML, token)
    }
}

extension String {
    /// As it stands in HTML, in texts and in attributes.
    ///
    /// By scalars, as browsers read: Mustache goes by characters, and a quotation mark with an accent is a character of
    /// its own.
    var escapedForHTML: String {
        var escaped = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            switch scalar {
            case "&": escaped.append(contentsOf: "&amp;".unicodeScalars)
            case "<": escaped.append(contentsOf: "&lt;".unicodeScalars)
            case ">": escaped.append(contentsOf: "&gt;".unicodeScalars)
            case "\"": escaped.append(contentsOf: "&quot;".unicodeScalars)
            case "'": escaped.append(contentsOf: "&#39;".unicodeScalars)
            default: escaped.append(scalar)
            }
        }
        return String(escaped)
    }
}

/// A form, with what was typed before and what is wrong with it.
struct FormContent: Sendable {
    let action: String
    let button: String
    let token: String
    let problem: String?
    let fields: [FieldContent]
}

/// One line of a form.
struct FieldContent: Sendable {
    let id: String
    let label: String
    let type: String
    /// Escaped.
    let value: String
    let autocomplete: String
    let limit: Int
    let hint: String?
    let error: String?
    // Stored, because templates see no computed properties.
    let hasNote: Bool

    init(
        _ id: String, _ label: String, type: String = "text", value: String = "", autocomplete: String, limit: Int,
        hint: String? = nil, error: String? = nil
    ) {
        (self.id, self.label, self.type, self.value) = (id, label, type, value.escapedForHTML)
        (self.autocomplete, self.limit, self.hint, self.error) = (autocomplete, limit, hint, error)
        hasNote = hint != nil || error != nil
    }
}
