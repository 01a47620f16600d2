import Crypto
import Foundation
import FriendvatarsKit
import Hummingbird

/// Pages and files that are the same for everybody.
struct StaticRoutes: Sendable {
    let pages: Pages

    func add(to router: Router<AppContext>) {
        router.get("/") { _, context in Response.seeOther(context.signedIn == nil ? "/sign-in" : "/friends") }
        router.get("/about") { _, _ in try pages.render(.about, [String: String]()) }
        router.get("/health") { _, _ in "ok\n" }
        for (name, file) in EmbeddedFiles.statics {
            let tag = "\"\(SHA256.hash(data: file.bytes).prefix(8).hexadecimal)\""
            router.get("/static/\(name)") { request, _ in
                let headers: HTTPFields = [.eTag: tag, .cacheControl: "no-cache"]
                guard request.headers[.ifNoneMatch] != tag else {
                    return Response(status: .notModified, headers: headers)
                }
                var response = Response(
                    status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: file.bytes)))
                response.headers[.contentType] = file.type
                response.headers[.contentLength] = String(file.bytes.count)
                return response
            }
        }
    }
}
