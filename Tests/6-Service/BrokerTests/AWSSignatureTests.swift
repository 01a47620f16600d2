import Bytes
import Foundation
import TestSupport
import Testing

@testable import Broker

/// Requests of clients of AWS, signed anew. The numbers are those of Amazon's pages.
@Suite struct AWSSignatureTests {
    private static let key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
    private static let identifier = "AKIAIOSFODNN7EXAMPLE"
    private static let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    /// The examples in "Authenticating Requests: Using the Authorization Header" of the API Reference of S3.
    private static let published: [(SignedRequest, code: String)] = [
        (
            request(
                "GET", "/test.txt", [("Range", "bytes=0-9"), ("x-amz-content-sha256", empty)],
                "host;range;x-amz-content-sha256;x-amz-date",
                "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"),
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        ),
        (
            request(
                "GET", "/?lifecycle", [("x-amz-content-sha256", empty)], "host;x-amz-content-sha256;x-amz-date",
                "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
        ),
        (
            request(
                "GET", "/?max-keys=2&prefix=J", [("x-amz-content-sha256", empty)],
                "host;x-amz-content-sha256;x-amz-date",
                "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
        ),
    ]

    private static func request(
        _ method: String, _ target: String, _ others: [(String, String)], _ names: String, _ code: String
    ) -> SignedRequest {
        let headers =
            others + [
                ("Host", "examplebucket.s3.amazonaws.com"), ("x-amz-date", "20130524T000000Z"),
                (
                    "Authorization",
                    "AWS4-HMAC-SHA256 Credential=\(identifier)/20130524/us-east-1/s3/aws4_request,"
                        + "SignedHeaders=\(names),Signature=\(code)"
                ),
            ]
        return SignedRequest(
            method: method, target: target, headers: headers.map { (name: $0.0, value: $0.1) }, body: nil)
    }

    private static var then: Date {
        get throws { try Date("2013-05-24T00:05:00Z", strategy: .iso8601) }
    }

    private func placement(_ placeholder: String, _ value: String?, places: Set<SecretPlace> = [.aws]) throws
        -> SecretPlacement
    {
        SecretPlacement([
            .init(number: 3, placeholder: placeholder, places: places, value: try value.map { try SecretBytes($0) })
        ])
    }

    private func authorization(_ request: SignedRequest) -> String? {
        request.headers.first { $0.name == "Authorization" }?.value
    }

    @Test(arguments: published.indices) func theKeyIsRecognised(_ index: Int) throws {
        let (request, code) = Self.published[index]
        let signature = try #require(AWSSignature(request))
        #expect(signature.accessKey == Self.identifier)
        #expect(Array(Self.key.utf8).withUnsafeBytes { signature.path(ifMadeWith: $0, for: request) } == .asSent)
        #expect(Array(Self.key.dropLast().utf8).withUnsafeBytes { signature.path(ifMadeWith: $0, for: request) } == nil)
        // Signed anew with another key, and with the same one again.
        var other = try placement(Self.key, "another key of forty characters, or less")
        let changed = try other.sign(request, request, now: Self.then)
        #expect(other.wanted == [3] && other.strays.isEmpty)
        #expect(authorization(changed)?.hasSuffix(try #require(other.signature)) == true)
        #expect(authorization(changed)?.hasSuffix(code) == false)
        var back = try placement("another key of forty characters, or less", Self.key)
        #expect(authorization(try back.sign(changed, changed, now: Self.then))?.hasSuffix(code) == true)
    }

    /// The example in "Authenticating Requests: Using Query Parameters". What comes out is used at once, so it is good
    /// for a minute more, and not for a day.
    @Test func queries() throws {
        let code = "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"
        let begin =
            "/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1"
            + "%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host"
        let request = SignedRequest(
            method: "GET", target: begin + "&X-Amz-Signature=\(code)",
            headers: [("Host", "examplebucket.s3.amazonaws.com")], body: nil)
        var placement = try placement(Self.key, "another key of forty characters, or less")
        let changed = try placement.sign(request, request, now: Self.then)
        #expect(placement.wanted == [3])
        #expect(changed.target.hasPrefix(begin.replacing("86400", with: "360") + "&X-Amz-Signature="))
        #expect(!changed.target.hasSuffix(code))
    }

    /// The identifier of a key is replaced beside the signature, and reported where no rule has it.
    @Test func identifiers() throws {
        let request = Self.published[0].0
        var allowed = try placement(Self.identifier, "AKIAOTHEROTHEROTHER0", places: [.awsID])
        #expect(allowed.header("authorization", authorization(request) ?? "") == authorization(request))
        let changed = try allowed.sign(request, request, now: Self.then)
        #expect(authorization(changed)?.contains("Credential=AKIAOTHEROTHEROTHER0/2013") == true)
        #expect(allowed.wanted == [3] && allowed.strays.isEmpty)
        var elsewhere = try placement(Self.key, nil, places: [.authorization])
        #expect(authorization(try elsewhere.sign(request, request, now: Self.then)) == authorization(request))
        #expect(elsewhere.wanted.isEmpty && elsewhere.strays.map(\.place) == [.aws])
    }

    /// The secret key goes nowhere, also if the program writes its placeholder where an identifier stands.
    @Test func aKeyIsNoIdentifier() throws {
        let request = Self.published[0].0
        var placement = try placement(Self.identifier, "the secret key of forty characters, or so")
        let changed = try placement.sign(request, request, now: Self.then)
        #expect(authorization(changed) == authorization(request))
        #expect(placement.wanted.isEmpty && placement.strays.map(\.place) == [.awsID])
    }

    /// A token of a session is put into its header first, and the signature covers it there.
    @Test func tokensOfSessions() throws {
        let (old, new, token) = ("a placeholder of forty characters, or so", "the secret key", "the token of a session")
        func names(_ code: String) -> SignedRequest {
            Self.request(
                "GET", "/", [("x-amz-content-sha256", Self.empty), ("x-amz-security-token", "placeholder of it")],
                "host;x-amz-content-sha256;x-amz-date;x-amz-security-token", code)
        }
        // Signed with a key that is known, to have a request of a program.
        let begin = names(String(repeating: "0", count: 64))
        let (program, then) = (try #require(AWSSignature(begin)), try Self.then)
        let made = try Array(old.utf8).withUnsafeBytes { bytes throws(AWSSignature.Problem) in
            try program.signing(begin, with: bytes, .asSent, accessKey: Self.identifier, now: then)
        }
        var placement = SecretPlacement([
            .init(number: 1, placeholder: old, places: [.aws], value: try SecretBytes(new)),
            .init(
                number: 2, placeholder: "placeholder of it", places: [.header("x-amz-security-token")],
                value: try SecretBytes(token)),
        ])
        var outgoing = made
        outgoing.headers = made.headers.map { ($0.name, placement.header($0.name.lowercased(), $0.value)) }
        let changed = try placement.sign(made, outgoing, now: Self.then)
        #expect(placement.wanted == [1, 2] && placement.strays.isEmpty)
        #expect(changed.headers.contains { $0.value == token })
        let signature = try #require(AWSSignature(changed))
        #expect(Array(new.utf8).withUnsafeBytes { signature.path(ifMadeWith: $0, for: changed) } == .asSent)
    }

    /// How long a signature is good is read here as the server reads it.
    @Test(arguments: [
        "X-Amz-Expire%73=604800", "%58-Amz-Expires=604800", "X-Amz-Expires=1&X-Amz-Expires=604800", "x=1",
        "X-Amz-Expires=60&X-Amz-Expire%73=604800", "X-Amz-Expires=60&x-amz-expires=604800",
    ])
    func otherSpellings(_ expiry: String) throws {
        let begin =
            "/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1"
            + "%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-SignedHeaders=host&X-Amz-Signature="
        let request = SignedRequest(
            method: "GET", target: begin + String(repeating: "a", count: 64) + "&" + expiry,
            headers: [("Host", "examplebucket.s3.amazonaws.com")], body: nil)
        let signature = try #require(AWSSignature(request))
        let then = try Self.then
        #expect(throws: AWSSignature.Problem.self) {
            try Array(Self.key.utf8).withUnsafeBytes { bytes throws(AWSSignature.Problem) in
                try signature.signing(request, with: bytes, .asSent, accessKey: Self.identifier, now: then)
            }
        }
    }

    /// A signature for later is none to give away, nor one of which a part of the body has its own.
    @Test func whatIsNotSigned() throws {
        let request = Self.published[0].0
        for seconds in [-1_300.0, 1_300] {
            var placement = try placement(Self.key, "another key of forty characters, or less")
            #expect(throws: AWSSignature.Problem.self) {
                try placement.sign(request, request, now: Self.then.addingTimeInterval(seconds))
            }
        }
        var parts = request
        parts.headers[1].value = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
        let signature = try #require(AWSSignature(parts))
        let then = try Self.then
        #expect(throws: AWSSignature.Problem.self) {
            try Array(Self.key.utf8).withUnsafeBytes { bytes throws(AWSSignature.Problem) in
                try signature.signing(parts, with: bytes, .asSent, accessKey: Self.identifier, now: then)
            }
        }
    }

    /// A body is covered by its digest, which a header may have; what the broker changed in it is signed as it is.
    @Test func bodies() throws {
        var request = Self.published[0].0
        let signature = try #require(AWSSignature(request))
        #expect(!signature.coversBody(of: request))
        request.headers.remove(at: 1)
        #expect(signature.coversBody(of: request))
    }

    /// Nothing that a program writes stops the broker.
    @Test func anythingIsRead() throws {
        var random = SystemRandomNumberGenerator()
        let parts = [
            "AWS4-HMAC-SHA256 ", "Credential=", "SignedHeaders=", "Signature=", "host", ";", ",", "/", "aws4_request",
            "%", "%2",
            "=", "20130524", "T000000Z", "?", "&", "X-Amz-Algorithm=AWS4-HMAC-SHA256", "X-Amz-Credential=",
            "X-Amz-Date=",
            "X-Amz-SignedHeaders=host", "X-Amz-Signature=", String(repeating: "a", count: 64), "ä", " ", "\t", "",
        ]
        for _ in 0..<TestScale.count(3_000, soak: 1_000_000) {
            func text() -> String {
                (0..<Int.random(in: 0..<14, using: &random)).map { _ in parts.randomElement(using: &random) ?? "" }
                    .joined()
            }
            let request = SignedRequest(
                method: "GET", target: "/" + text(),
                headers: [("host", text()), ("x-amz-date", text()), (Bool.random() ? "authorization" : "x", text())],
                body: nil)
            var placement = try placement(Self.key, "another key of forty characters, or less")
            let result = try? placement.sign(request, request)
            #expect(result == nil || result?.headers.count == 3)
        }
    }
}
