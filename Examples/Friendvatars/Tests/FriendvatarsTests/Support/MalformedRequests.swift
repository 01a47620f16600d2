import Foundation

/// Requests that nobody sends who means well: good ones with something wrong in them.
struct MalformedRequests {
    private var state: UInt64
    private let cookie: String

    init(seed: UInt64, cookie: String) {
        (state, self.cookie) = (seed, cookie)
    }

    /// SplitMix64 (Steele, Lea, Flood 2014), so that a seed says which requests there were.
    private mutating func random(below limit: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        value ^= value >> 31
        return Int(value % UInt64(max(1, limit)))
    }

    private mutating func one<Element>(of elements: [Element]) -> Element { elements[random(below: elements.count)] }

    mutating func next() -> Data {
        var request = Data(base().utf8)
        for _ in 0...random(below: 3) { damage(&request) }
        return request
    }

    private mutating func base() -> String {
        let path = one(of: [
            "/", "/sign-in", "/sign-up", "/friends", "/friends/remove", "/account/delete", "/avatars/me",
            "/static/app.js",
        ])
        let method = one(of: ["GET", "POST", "HEAD", "PUT", "OPTIONS", "CONNECT", "TRACE", "get"])
        let body = one(of: [
            "", "email=a%40example.com&password=x&form_token=y", "%", "email=%FF%FE", "a[b][c]=1&a=2", "&&&===",
            "email=" + String(repeating: "a", count: random(below: 3_000)), "{\"email\": 1}",
        ])
        var headers = [
            "Host: localhost", "Cookie: __Host-session=\(one(of: [cookie, "", "x", "=;=;", cookie + cookie]))",
            "Content-Type: \(one(of: ["application/x-www-form-urlencoded", "text/html", ""]))",
            "Content-Length: \(one(of: [String(body.utf8.count), "0", "-1", "99999999999999999999", "1e3", "5, 6"]))",
        ]
        if random(below: 4) == 0 {
            headers.append(
                one(of: [
                    "Transfer-Encoding: chunked", "Transfer-Encoding: gzip", "Expect: 100-continue",
                    "Connection: upgrade", "Upgrade: h2c", "Range: bytes=-1", "If-None-Match: \u{1}", ": x",
                    "Host: other",
                ]))
        }
        let version = one(of: ["HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "HTTP/9", "HTCPCP/1.0", ""])
        return "\(method) \(path) \(version)\r\n\(headers.joined(separator: "\r\n"))\r\n\r\n\(body)"
    }

    private mutating func damage(_ request: inout Data) {
        guard !request.isEmpty else { return }
        let place = request.startIndex + random(below: request.count)
        switch random(below: 6) {
        case 0: request[place] = UInt8(random(below: 256))
        case 1: request.removeSubrange(place...)
        case 2: request.remove(at: place)
        case 3:
            request.insert(
                contentsOf: one(of: ["\r\n", "\n", "\u{0}", " ", ":", "%00", "\r\n\r\n", "é"]).utf8, at: place)
        case 4: request.insert(contentsOf: request[place...].prefix(200), at: place)
        default: request[place] ^= UInt8(1 << random(below: 8))
        }
    }
}
