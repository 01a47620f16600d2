import Bytes
import CLibrary
import FoundationEssentials
import SystemLibraries

/// One request over HTTP or HTTPS.
///
/// Nothing else is asked: an address with another scheme is refused, also when a server redirects to it. Proxies are
/// those of the environment (`http_proxy`, `https_proxy`, `no_proxy`), except in a program with raised privileges.
package struct HTTPRequest: Sendable {
    package var address: String
    /// What is sent; nil asks with GET.
    package var body: Data?
    /// The media type of the body.
    package var type: String?
    /// The largest accepted answer in bytes.
    package var limit: Int
    /// The end of the whole request with all redirects.
    package var deadline: ContinuousClock.Instant

    /// How often a server may send the request elsewhere. Responders and stores of certificates need none or one.
    private static let mostRedirects = 3
    /// The longest address in bytes; those in certificates have less than a hundred.
    private static let longestAddress = 2048

    package init(
        _ address: String, body: Data? = nil, type: String? = nil, limit: Int, deadline: ContinuousClock.Instant
    ) {
        (self.address, self.body, self.type, self.limit, self.deadline) = (address, body, type, limit, deadline)
    }

    /// The reason why there is no answer.
    package enum Failure: Error, Equatable, CustomStringConvertible {
        /// The address is not one of HTTP or HTTPS.
        case wrongAddress
        case noLibrary(SystemLibraryError)
        case noMemory
        case late
        case tooLarge
        /// Any other status than 200.
        case status(Int)
        case failed(String)

        package var description: String {
            switch self {
            case .wrongAddress: "the address is not one of HTTP or HTTPS"
            case .noLibrary(let error): "\(error)"
            case .noMemory: "there is no memory for a request"
            case .late: "the server did not answer in time"
            case .tooLarge: "the server's answer is too large"
            case .status(let status): "the server answered with status \(status)"
            case .failed(let reason): "the request failed: \(reason)"
            }
        }
    }

    /// Whether the address begins with `http://` or `https://` and holds printable ASCII alone.
    package static func isAcceptable(_ address: String) -> Bool {
        let lower = address.lowercased()
        return address.utf8.count <= longestAddress && address.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            && (lower.hasPrefix("http://") || lower.hasPrefix("https://"))
    }

    /// Sends the request and waits for the answer.
    ///
    /// - Returns: The body of an answer with status 200.
    package func answer() throws(Failure) -> Data {
        guard Self.isAcceptable(address) else { throw .wrongAddress }
        let curl: Libcurl
        do {
            curl = try Libcurl.shared.get()
        } catch {
            throw .noLibrary(error)
        }
        let left = (deadline - .now) / .milliseconds(1)
        // libcurl counts in whole milliseconds and may end a request a little early: what is left then is no time for
        // another one.
        guard left >= 5 else { throw .late }
        guard let handle = curl.make() else { throw .noMemory }
        defer { curl.free(handle) }
        let received = Received(limit: limit)
        guard configure(handle, curl, received, Int(clamping: min(left, 1e9))) else { throw .noMemory }
        let code = withExtendedLifetime(received) { perform(handle, curl) }
        guard code == Libcurl.Code.success else { throw failure(code, received, curl) }
        var status = 0
        // CURLINFO_RESPONSE_CODE
        guard curl.information(handle, 0x20_0002, &status) == Libcurl.Code.success, status == 200 else {
            throw .status(status)
        }
        return received.data
    }

    /// - Returns: Whether libcurl took all options that bound the request, which it does not if its memory is short.
    private func configure(
        _ handle: Libcurl.Handle, _ curl: Libcurl, _ received: Received, _ milliseconds: Int
    ) -> Bool {
        // A name server that does not answer would be waited for beyond the deadline. libcurl has this option since
        // version 7.87.
        _ = curl.set(.quickExit, 1, of: handle)
        // An empty text is no proxy.
        if Environment.isRaised, !curl.set(.proxy, "", of: handle) { return false }
        // libcurl does not use signals then, which threads need (CURLOPT_NOSIGNAL(3)).
        return curl.set(.noSignal, 1, of: handle) && curl.set(.noProgress, 1, of: handle)
            && curl.set(.url, address, of: handle) && curl.set(.userAgent, "swift-keychain", of: handle)
            // CURLPROTO_HTTP and CURLPROTO_HTTPS
            && curl.set(.protocols, 1 | 2, of: handle) && curl.set(.redirectProtocols, 1 | 2, of: handle)
            && curl.set(.followLocation, 1, of: handle)
            && curl.set(.maximumRedirects, Self.mostRedirects, of: handle)
            && curl.set(.maximumFileSize, limit, of: handle) && curl.set(.timeout, milliseconds, of: handle)
            && curl.set(.connectTimeout, milliseconds, of: handle) && curl.setWriter(Received.write, of: handle)
            && curl.set(.writeData, Unmanaged.passUnretained(received).toOpaque(), of: handle)
    }

    private func perform(_ handle: Libcurl.Handle, _ curl: Libcurl) -> Int32 {
        guard let body else { return curl.perform(handle) }
        // Without the second line, libcurl may wait for the permission to send the body.
        var headers: OpaquePointer?
        defer { curl.freeHeaders(headers) }
        for line in ["Content-Type: \(type ?? "application/octet-stream")", "Expect:"] {
            // On failure the list stays as it was (curl_slist_append(3)).
            guard let longer = curl.appendHeader(headers, line) else { return Libcurl.Code.memory }
            headers = longer
        }
        return body.withUnsafeBytes { bytes in
            // libcurl does not copy the body.
            guard curl.set(.post, 1, of: handle), curl.set(.postFieldSize, body.count, of: handle),
                curl.set(.httpHeader, UnsafeRawPointer(headers), of: handle),
                curl.set(.postFields, bytes.baseAddress, of: handle)
            else { return Libcurl.Code.memory }
            return curl.perform(handle)
        }
    }

    private func failure(_ code: Int32, _ received: Received, _ curl: Libcurl) -> Failure {
        switch code {
        case Libcurl.Code.timeout: .late
        case Libcurl.Code.memory: .noMemory
        case Libcurl.Code.fileSizeExceeded: .tooLarge
        case Libcurl.Code.writeError where received.isTooLarge: .tooLarge
        default: .failed(curl.explanation(code).map { String(cString: $0) } ?? "code \(code) of libcurl")
        }
    }
}

/// Collects an answer, up to a limit.
private final class Received {
    private(set) var data = Data()
    private(set) var isTooLarge = false
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    static let write: Libcurl.Writer = { bytes, size, number, context in
        guard let bytes, let context else { return 0 }
        let count = size * number
        return Unmanaged<Received>.fromOpaque(context).takeUnretainedValue().take(bytes, count) ? count : 0
    }

    private func take(_ bytes: UnsafeMutablePointer<CChar>, _ count: Int) -> Bool {
        guard count <= limit - data.count else {
            isTooLarge = true
            return false
        }
        data.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: count))
        return true
    }
}
