#if HTTPClientSupport
import Broker
import Bytes
import KeychainDaemon
import NIOCore
import NIOHTTP1

/// A request that came over the socket, as one that a program sends through the proxy.
struct LinkedRequest: Sendable {
    /// Why a call is no request.
    struct Problem: Error {
        var reason: String
    }

    let target: BrokerRequest
    let request: IncomingRequest

    /// As ``Exchange`` takes it: a request in clear text names its server itself.
    var server: (host: String, port: Int)? { target.isSecure ? (target.host, target.port) : nil }

    /// - Parameter credentials: By which the proxy knows the requests of its program.
    init(_ call: BrokerCall, bodyCount: Int, credentials: String) throws(Problem) {
        let lower = call.url.lowercased()
        guard lower.hasPrefix("https://") || lower.hasPrefix("http://") else {
            throw Problem(reason: "the URL does not begin with https://")
        }
        let isSecure = lower.hasPrefix("https://")
        // The fragment is for the one who reads the answer.
        let rest = call.url.dropFirst(isSecure ? 8 : 7).prefix { $0 != "#" }
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        guard
            let (host, port) = BrokerDestination.authority(String(rest[..<end]), standard: isSecure ? 443 : 80)
        else {
            throw Problem(reason: "the URL names no server: write https://HOST or https://HOST:PORT, without a user")
        }
        let uri = try Self.encoded(rest[end...].hasPrefix("/") ? String(rest[end...]) : "/" + rest[end...])
        guard (1...20).contains(call.method.utf8.count),
            call.method.utf8.allSatisfy({ (0x61...0x7A).contains($0 | 0x20) })
        else { throw Problem(reason: "the method is not one of HTTP, such as GET") }
        let method = call.method.uppercased()
        let authority = "\(BrokerDestination.urlHost(host)):\(port)"
        var headers: HTTPHeaders = ["Host": authority]
        for header in call.headers {
            try Self.check(header)
            headers.add(name: header.name, value: header.value)
        }
        if !headers.contains(name: "user-agent") { headers.add(name: "User-Agent", value: Self.agent) }
        if !headers.contains(name: "accept") { headers.add(name: "Accept", value: "*/*") }
        if bodyCount > 0 || ["POST", "PUT", "PATCH"].contains(method) {
            headers.add(name: "Content-Length", value: "\(bodyCount)")
        }
        if !isSecure { headers.add(name: "Proxy-Authorization", value: credentials) }
        target = BrokerRequest(
            isSecure: isSecure, host: host, port: port, method: method, path: String(uri.prefix { $0 != "?" }))
        request = IncomingRequest(
            head: HTTPRequestHead(
                version: .http1_1, method: HTTPMethod(rawValue: method),
                uri: isSecure ? uri : "http://\(authority)\(uri)", headers: headers))
    }

    private static let agent = "keychain/\(DaemonProgram.version)"

    /// Writes bytes that no URL has as `%` and two digits, which is what a browser does with them. So the braces of a
    /// placeholder can be written as they are.
    private static func encoded(_ uri: String) throws(Problem) -> String {
        var result = ""
        for byte in uri.utf8 {
            guard byte >= 0x20, byte != 0x7F else { throw Problem(reason: "the URL has a control character") }
            if byte > 0x7E || " \"<>\\^`{|}".utf8.contains(byte) {
                let digits = String(byte, radix: 16, uppercase: true)
                result += "%" + digits
            } else {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            }
        }
        return result
    }

    /// Headers that say how a message travels.
    private static let ofTheConnection: Set<String> = [
        "host", "content-length", "transfer-encoding", "connection", "keep-alive", "te", "trailer", "upgrade", "expect",
        "proxy-authorization", "proxy-connection", "http2-settings",
    ]

    private static func check(_ header: BrokerCall.Header) throws(Problem) {
        let name = header.name.lowercased()
        // RFC 9110, 5.6.2.
        guard !name.isEmpty,
            name.utf8.allSatisfy({ byte in
                (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte)
            })
        else { throw Problem(reason: "a header has a name that no header has") }
        guard !ofTheConnection.contains(name) else {
            throw Problem(reason: "the header '\(name)' is set by the broker: leave it out")
        }
        guard header.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
            throw Problem(reason: "the value of the header '\(name)' has a control character or several lines")
        }
    }
}
#endif
