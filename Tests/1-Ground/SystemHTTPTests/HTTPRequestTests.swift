import Foundation
import TestSupport
import Testing

@testable import SystemHTTP

/// Requests to a server on the loopback interface.
@Suite struct HTTPRequestTests {
    private func ask(
        _ address: String, body: Data? = nil, limit: Int = 1 << 20, within time: Duration = Patience.duration
    ) -> Result<Data, HTTPRequest.Failure> {
        let request = HTTPRequest(address, body: body, type: "text/plain", limit: limit, deadline: .now + time)
        return Result { () throws(HTTPRequest.Failure) in try request.answer() }
    }

    @Test func whatIsSentArrives() throws {
        let server = try LoopbackServer { request in
            .body(Data("\(request.method) \(request.path) ".utf8) + request.body)
        }
        #expect(ask(server.address + "/a?b=c") == .success(Data("GET /a?b=c ".utf8)))
        #expect(ask(server.address.uppercased() + "/a") == .success(Data("GET /a ".utf8)))
        for count in [0, 1, 5_000, 2_000_000] {
            let body = Data((0..<count).map { UInt8(truncatingIfNeeded: $0) })
            #expect(ask(server.address, body: body, limit: 1 << 24) == .success(Data("POST / ".utf8) + body))
        }
    }

    @Test func anAnswerHasALimit() throws {
        let server = try LoopbackServer { request in
            request.path == "/endless" ? .endless(length: nil) : .body(Data(repeating: 1, count: 1_000))
        }
        #expect(ask(server.address, limit: 1_000) == .success(Data(repeating: 1, count: 1_000)))
        #expect(ask(server.address, limit: 999) == .failure(.tooLarge))
        #expect(ask(server.address + "/endless") == .failure(.tooLarge))
    }

    @Test func onlyStatus200IsAnAnswer() throws {
        let server = try LoopbackServer { request in .status(Int(request.path.dropFirst()) ?? 0, body: Data([1])) }
        #expect(ask(server.address + "/200") == .success(Data([1])))
        for status in [201, 206, 301, 400, 404, 500, 503] {
            #expect(ask(server.address + "/\(status)") == .failure(.status(status)))
        }
    }

    @Test func redirectsHaveALimit() throws {
        let server = try LoopbackServer { request in
            let left = Int(request.path.dropFirst()) ?? 0
            return left == 0 ? .body(Data([1])) : .status(302, headers: ["Location: /\(left - 1)"])
        }
        #expect(ask(server.address + "/3") == .success(Data([1])))
        guard case .failure(.failed) = ask(server.address + "/4") else {
            Issue.record("a fourth redirect was followed")
            return
        }
    }

    @Test func redirectsLeaveNoHTTP() throws {
        let folder = try TemporaryFolder()
        try FolderContents.write(Data([1]), to: folder.path(of: "file"))
        let places = [
            "file://\(folder.path(of: "file"))", "ftp://127.0.0.1/", "gopher://127.0.0.1/", "dict://127.0.0.1/",
        ]
        for place in places {
            let server = try LoopbackServer { _ in .status(302, headers: ["Location: \(place)"]) }
            guard case .failure(.failed) = ask(server.address) else {
                Issue.record("\(place) was asked")
                continue
            }
        }
    }

    @Test func aServerIsWaitedForUntilTheDeadline() throws {
        let end = DispatchSemaphore(value: 0)
        defer { end.signal() }
        let server = try LoopbackServer { _ in
            end.wait()
            end.signal()
            return .nothing
        }
        #expect(ask(server.address, within: .milliseconds(50)) == .failure(.late))
        #expect(ask(server.address, within: .zero) == .failure(.late))
        #expect(ask(server.address, within: .seconds(-1)) == .failure(.late))
        #expect(server.connections <= 1)
    }

    /// The deadline is that of the whole answer, and not of the next byte.
    @Test func anAnswerThatTricklesIsNotWaitedForLonger() throws {
        let server = try LoopbackServer { _ in .trickling }
        #expect(ask(server.address, within: .milliseconds(100)) == .failure(.late))
        #expect(server.connections <= 1)
    }

    @Test func otherAddressesAreRefused() {
        for address in [
            "", "http:/a", "ftp://a/", "file:///etc/passwd", "//a/", "a", "http://a b/", "http://a\n/", "http://ä/",
            " http://a/", "http://" + String(repeating: "a", count: 2_048),
        ] {
            #expect(ask(address) == .failure(.wrongAddress), "\(address)")
        }
        #expect(HTTPRequest.isAcceptable("HTTPS://a/"))
    }

    /// The numbers are those of the library's header.
    @Test func numbersOfOptions() throws {
        let options: [(String, Libcurl.Option)] = [
            ("WRITEDATA", .writeData), ("URL", .url), ("PROXY", .proxy), ("POSTFIELDS", .postFields),
            ("USERAGENT", .userAgent), ("HTTPHEADER", .httpHeader), ("NOPROGRESS", .noProgress), ("POST", .post),
            ("FOLLOWLOCATION", .followLocation), ("POSTFIELDSIZE", .postFieldSize), ("MAXREDIRS", .maximumRedirects),
            ("NOSIGNAL", .noSignal), ("MAXFILESIZE", .maximumFileSize), ("TIMEOUT_MS", .timeout),
            ("CONNECTTIMEOUT_MS", .connectTimeout), ("PROTOCOLS", .protocols), ("REDIR_PROTOCOLS", .redirectProtocols),
            ("WRITEFUNCTION", .writeFunction), ("QUICK_EXIT", .quickExit),
        ]
        #expect(options.count == Libcurl.Option.allCases.count)
        let numbers =
            options.map { ("CURLOPT_\($0.0)", Int($0.1.rawValue)) } + [
                ("CURLE_OK", Int(Libcurl.Code.success)), ("CURLE_WRITE_ERROR", Int(Libcurl.Code.writeError)),
                ("CURLE_OPERATION_TIMEDOUT", Int(Libcurl.Code.timeout)),
                ("CURLE_FILESIZE_EXCEEDED", Int(Libcurl.Code.fileSizeExceeded)), ("CURL_GLOBAL_ALL", 3),
                ("CURLPROTO_HTTP | CURLPROTO_HTTPS", 3), ("CURLINFO_RESPONSE_CODE", 0x20_0002),
            ]
        let folder = try TemporaryFolder()
        let lines =
            ["#include <curl/curl.h>"]
            + numbers.map { "_Static_assert((long)(\($0.0)) == \($0.1), \"\($0.0)\");" }
        try FolderContents.write(Data(lines.joined(separator: "\n").utf8), to: folder.path(of: "numbers.c"))
        let run = try ProgramStart(
            ["clang", "-Wno-deprecated-declarations", "-fsyntax-only", folder.path(of: "numbers.c")]
        ).run()
        #expect(run.status == 0, "\(run.text)\(run.errors)")
    }
}
