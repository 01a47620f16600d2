import Access
import Bytes
import Foundation
import KeychainModel
import Presence
import Synchronization
import TestSupport
import Testing
import Vault
import VaultInterface

@testable import BrowserCommands

/// Messages of a browser that are almost right: frames, what is in the sealed ones, and addresses of pages.
struct FuzzBrowser {
    /// The sites with a login, whose password is `for:` and the site. The last two are registries of other sites.
    private static let sites = [
        "https://example.org", "https://www.example.org", "https://example.org:8443", "http://plain.example",
        "https://xn--bcher-kva.example", "https://127.0.0.1", "https://[::1]", "https://github.io", "https://co.uk",
    ]
    private static let passwordStart = "for:"
    private static let key = Data(repeating: 7, count: 32).base64EncodedString()

    /// A vault with a login for each site, and a browser that may have those of every page of the samples.
    private static func session() throws -> VaultSession {
        let session = VaultSession(
            vault: try memoryVault(), client: Client(identifier: "keychain", accessGroups: ["keychain"]))
        for site in sites {
            var item = NewItem.password(site, "alice", passwordStart + site)
            item.customAttributes = ["url": site]
            _ = try session.perform(PutItem(item))
        }
        let association = Association(key: key, browser: "fuzz", sites: pages.compactMap { PageAddress($0)?.text })
        let value = String(decoding: try JSONEncoder().encode(association), as: UTF8.self)
        _ = try session.perform(PutItem(.password("browser-association/fuzz", "", value)))
        return session
    }

    /// Pages that a person allowed, with and without a login.
    private static let pages =
        sites + [
            "https://a.www.example.org", "https://sub.example.org:8443", "https://evil.example", "http://example.org",
            "https://notexample.org", "https://example.org.evil.example", "https://evil.github.io",
            "https://evil.co.uk",
        ]

    private static func request(_ action: String, _ members: String) -> Data {
        Data(#"{"action":"\#(action)",\#(members)}"#.utf8)
    }

    private static var samples: [Data] {
        let keys = #""id":"fuzz","keys":[{"id":"fuzz","key":"\#(key)"}]"#
        let requests =
            pages.map { request("get-logins", #""url":"\#($0)/a?b#c","submitUrl":"\#($0)",\#(keys)"#) } + [
                request("test-associate", #""id":"fuzz","key":"\#(key)""#),
                request("get-databasehash", #""a":[1,-2.5e3,null]"#),
                request(
                    "set-login", #""url":"https://new.example","login":"b\u00e4","password":"new","uuid":"",\#(keys)"#),
                request("get-totp", #""uuid":"00000000000000000000000000000000""#),
                request("associate", #""key":"\#(key)","idKey":"\#(key)""#), request("generate-password", #""a":true"#),
            ]
        let nonce = Data(repeating: 1, count: 24).base64EncodedString()
        let frames = [
            #"{"action":"change-public-keys","publicKey":"\#(key)","nonce":"\#(nonce)","clientID":"x"}"#,
            #"{"action":"get-logins","message":"AAAAAAAAAAAAAAAAAAAAAAAAAAA=","nonce":"\#(nonce)","clientID":"x","requestID":"1"}"#,
        ]
        return requests + [frames.map { frame(Data($0.utf8)) }.reduce(Data(), +)] + pages.map { Data(($0 + "/a").utf8) }
    }

    private static func frame(_ message: Data) -> Data {
        withUnsafeBytes(of: UInt32(clamping: message.count)) { Data($0) } + message
    }

    // MARK: One input

    /// A conversation whose answers go to a file.
    private final class Host {
        let conversation: HostConversation
        let client: HostClient
        private let file: FileHandle

        init(_ session: VaultSession, at path: String) throws {
            try Data().write(to: URL(filePath: path))
            file = try #require(FileHandle(forUpdatingAtPath: path))
            let prompt = BrowserPrompt(PinentryPrompt(program: "/nonexistent"))
            conversation = HostConversation(
                prompt: prompt, output: HostOutput(file.fileDescriptor), browser: "fuzz",
                currentSession: { _ in session })
            client = HostClient("x", publicKey: key, try #require(try BoxKeys(with: Data(repeating: 9, count: 32))))
            conversation.state.withLock { $0.client = client }
        }

        /// Gives the host frames until it takes no more, and returns its answers.
        func answers(to frames: Data) throws -> [[String: Any]] {
            let pipe = Pipe()
            try pipe.fileHandleForWriting.write(contentsOf: frames)
            try pipe.fileHandleForWriting.close()
            do {
                while let message = try HostMessages.read(pipe.fileHandleForReading.fileDescriptor) {
                    try conversation.take(message)
                }
            } catch {
                // The host ends.
            }
            conversation.end()
            try file.seek(toOffset: 0)
            var rest = try file.readToEnd() ?? Data()
            var answers: [[String: Any]] = []
            while rest.count >= 4 {
                let length = rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
                let message = rest.dropFirst(4).prefix(length)
                guard message.count == length, length <= HostMessages.longest,
                    let answer = try JSONSerialization.jsonObject(with: Data(message)) as? [String: Any]
                else { throw FuzzFinding("an answer that is no message") }
                answers.append(answer)
                rest = rest.dropFirst(4 + length)
            }
            guard rest.isEmpty else { throw FuzzFinding("an answer that is cut off") }
            return answers
        }
    }

    /// - Returns: Whether the host did what was asked.
    private static func tryRequest(_ input: Data, _ host: Host) throws -> Bool {
        let nonce = try #require(BoxNonce(Data(repeating: 3, count: 24).base64EncodedString()))
        let sealed = try #require(host.client.keys.seal(input, nonce)).base64EncodedString()
        let request = (try? JSONSerialization.jsonObject(with: input)) as? [String: Any]
        let action = request?["action"] as? String ?? "get-logins"
        let outer: [String: Any] = ["action": action, "message": sealed, "nonce": nonce.text, "clientID": "x"]
        let message = try JSONSerialization.data(withJSONObject: outer)
        guard message.count <= HostMessages.longest else { return false }
        let answers = try host.answers(to: frame(message))
        guard answers.count == 1, let answer = answers.first else { throw FuzzFinding("\(answers.count) answers") }
        guard let text = answer["message"] as? String else {
            guard answer["errorCode"] is String else { throw FuzzFinding("an answer without a number") }
            return false
        }
        guard let box = Data(base64Encoded: text), let opened = host.client.keys.open(box, nonce.next),
            let members = try JSONSerialization.jsonObject(with: opened) as? [String: Any]
        else { throw FuzzFinding("an answer that does not open") }
        for entry in members["entries"] as? [[String: Any]] ?? [] {
            guard let password = entry["password"] as? String, password.hasPrefix(passwordStart) else { continue }
            let site = String(password.dropFirst(passwordStart.count))
            guard let page = request?["url"] as? String, isOwn(site, of: page) else {
                throw FuzzFinding("the login of \(site) for \(request?["url"] ?? "no page")")
            }
        }
        return true
    }

    /// Whether the page may have the login of the site, by Foundation's reading of both.
    private static func isOwn(_ site: String, of page: String) -> Bool {
        // Browsers take a backslash for a slash.
        guard let page = URLComponents(string: page.replacing("\\", with: "/")), let site = URLComponents(string: site),
            let host = page.encodedHost?.lowercased(), let own = site.encodedHost
        else { return false }
        let ports = ["https": 443, "http": 80]
        let (scheme, ownScheme) = (page.scheme?.lowercased() ?? "", site.scheme ?? "")
        let (port, ownPort) = (page.port ?? ports[scheme], site.port ?? ports[ownScheme])
        let isSameWay = scheme == ownScheme && port == ownPort
        let isEncryptedSince = scheme == "https" && ownScheme == "http" && port == 443 && ownPort == 80
        let isBelow = host.hasSuffix("." + own) && !["github.io", "co.uk", "127.0.0.1", "[::1]"].contains(own)
        return (isSameWay || isEncryptedSince) && (host == own || isBelow)
    }

    private static func tryAddress(_ text: String) throws -> Bool {
        guard let page = PageAddress(text) else { return false }
        guard PageAddress(page.text + "/x") == page else { throw FuzzFinding("\(page.text) is another page") }
        guard (1...65_535).contains(page.port),
            !page.host.contains(where: { " @/\\?#%\n\0".contains($0) && !page.host.hasPrefix("[") })
        else { throw FuzzFinding("\(page.text) is no page") }
        for site in sites {
            guard let stored = PageAddress(site)?.internetAddress(account: "alice"), page.distance(to: stored) != nil
            else { continue }
            guard isOwn(site, of: text) else { throw FuzzFinding("the login of \(site) for \(text)") }
        }
        return true
    }

    /// Whatever the bytes, there are whole answers, and no page gets a login of another site.
    @Test func fuzzBrowser() throws {
        let folder = try TemporaryFolder()
        let samples = Self.samples
        var run = FuzzRun("browser", samples: samples, plain: 300, soak: 20_000)
        var session = try Self.session()
        var tried = 0
        let report = try run.run { input in
            if String(decoding: input.prefix(5), as: UTF8.self).hasPrefix("http") {
                return try Self.tryAddress(String(decoding: input, as: UTF8.self))
            }
            tried += 1
            // Logins that were stored would make the vault ever larger.
            if tried % 200 == 0 { session = try Self.session() }
            let host = try Host(session, at: folder.path(of: "answers"))
            guard input.first != UInt8(ascii: "{") else { return try Self.tryRequest(input, host) }
            return try host.answers(to: input).contains { $0["errorCode"] == nil }
        }
        // Some samples are refused: pages without a login, and what a person would have to allow.
        #expect(report.accepted >= min(report.tried, samples.count / 2))
    }
}
