import Bytes
import Crypto
import FoundationEssentials

/// A request with all that its signature covers.
package struct SignedRequest: Sendable {
    package var method: String
    /// Path and query.
    package var target: String
    /// With `Host`.
    package var headers: [(name: String, value: String)]
    /// Nil if it is not known.
    package var body: [UInt8]?

    package init(method: String, target: String, headers: [(name: String, value: String)], body: [UInt8]?) {
        (self.method, self.target, self.headers, self.body) = (method, target, headers, body)
    }

    /// The values of a header; its name in lower case.
    fileprivate func values(of name: String) -> [String] {
        headers.filter { $0.name.lowercased() == name }.map(\.value)
    }

    /// The pairs of the query, as they stand there.
    fileprivate var query: [(name: String, value: String)] {
        guard let mark = target.firstIndex(of: "?") else { return [] }
        return target[target.index(after: mark)...].split(separator: "&").map { pair in
            let equals = pair.firstIndex(of: "=") ?? pair.endIndex
            return (String(pair[..<equals]), String(pair[equals...].dropFirst()))
        }
    }
}

/// How a client of Amazon Web Services signs a request: AWS Signature Version 4, with HMAC-SHA256.
///
/// The source is "Create a signed AWS API request" in the AWS Identity and Access Management User Guide, and for the
/// path and the body of S3 "Signature Calculations for the Authorization Header" in its API Reference.
package struct AWSSignature: Sendable {
    /// Why a request that is signed in this way cannot be signed anew.
    package struct Problem: Error, Equatable {
        package let reason: String
    }

    /// The identifier of the key, which is no secret.
    package var accessKey: String
    /// Date, region, service and `aws4_request`.
    private let scope: [String]
    /// Names of headers, in lower case and sorted.
    private let signed: [String]
    fileprivate let code: String
    /// When it was signed, as in `20261130T180000Z`.
    private let time: String
    /// Whether it stands in the query, in a "presigned URL", and not in the header `Authorization`.
    private let isInQuery: Bool

    private static let algorithm = "AWS4-HMAC-SHA256"
    private static let digest = "x-amz-content-sha256"

    /// Reads the signature of a request; nil if it has none of this kind.
    package init?(_ request: SignedRequest) {
        if let header = request.values(of: "authorization").first {
            guard header.hasPrefix(Self.algorithm + " ") else { return nil }
            var parts: [String: String] = [:]
            for part in header.dropFirst(Self.algorithm.count + 1).split(separator: ",") {
                let words = part.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " } }
                guard words.count == 2, parts.updateValue(words[1], forKey: words[0]) == nil else { return nil }
            }
            guard let key = parts["Credential"], let names = parts["SignedHeaders"], let code = parts["Signature"],
                let time = request.values(of: "x-amz-date").first
            else { return nil }
            self.init(key, names, code, time, isInQuery: false)
        } else {
            let query = Dictionary(request.query.map { ($0.name.lowercased(), $0.value) }) { first, _ in first }
            func value(_ name: String) -> String? { query[name].flatMap(BrokerDestination.decoded) }
            guard value("x-amz-algorithm") == Self.algorithm, let key = value("x-amz-credential"),
                let names = value("x-amz-signedheaders"), let code = value("x-amz-signature"),
                let time = value("x-amz-date")
            else { return nil }
            self.init(key, names, code, time, isInQuery: true)
        }
    }

    private init?(_ credential: String, _ names: String, _ code: String, _ time: String, isInQuery: Bool) {
        // An identifier may have a slash in it; the four parts of the scope have none.
        let parts = credential.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count >= 5, parts.last == "aws4_request" else { return nil }
        accessKey = parts.dropLast(4).joined(separator: "/")
        scope = Array(parts.suffix(4))
        signed = names.split(separator: ";").map { $0.lowercased() }.sorted()
        guard signed.contains("host"), time.hasPrefix(scope[0]), code.utf8.count == 64 else { return nil }
        (self.code, self.time, self.isInQuery) = (code, time, isInQuery)
    }

    /// Whether the signature covers a body of which no header has the digest, so that the body has to be known.
    package func coversBody(of request: SignedRequest) -> Bool {
        !isInQuery && request.values(of: Self.digest).isEmpty
    }

    /// How services read the path.
    package enum Path: CaseIterable, Sendable {
        /// As it was sent: S3.
        case asSent
        /// Encoded once more: all others.
        case encodedAgain
    }

    /// Finds out whether the request was signed with this key.
    ///
    /// - Returns: How the path is read; nil for another key.
    package func path(ifMadeWith key: UnsafeRawBufferPointer, for request: SignedRequest) -> Path? {
        Path.allCases.first { path in
            let expected = signature(of: request, with: key, path, names: signed, time: time)
            return isEqualInConstantTime(Data(expected.utf8), Data(code.utf8))
        }
    }

    /// Signs a request anew.
    ///
    /// - Parameters:
    ///   - request: As it goes out, with the old signature.
    ///   - key: The secret access key; nil keeps the signature, with another identifier of the key.
    ///   - accessKey: The identifier of the key.
    ///   - now: A request that was signed more than 15 minutes before or after it is none to sign: the program could
    ///     keep a signature for later. AWS refuses it as well.
    package func signing(
        _ request: SignedRequest, with key: UnsafeRawBufferPointer?, _ path: Path, accessKey: String,
        now: Date = Date()
    ) throws(Problem) -> SignedRequest {
        guard let made = Self.date(time), case let age = now.timeIntervalSince(made), abs(age) <= Self.patience else {
            throw Problem(
                reason: "the request was signed at \(time), which is more than 15 minutes from now: look at the clock")
        }
        // The end of one in a query is counted from then.
        guard !isInQuery || age >= -60 else {
            throw Problem(reason: "the URL was signed for \(time), which is still to come: look at the clock")
        }
        try checkQuery(of: request)
        let kinds = request.values(of: Self.digest)
        guard !kinds.contains(where: { $0.hasPrefix("STREAMING-") && !$0.hasPrefix("STREAMING-UNSIGNED") }) else {
            throw Problem(
                reason: "each part of the body is signed on its own, which is not supported: have the client sign the "
                    + "body as a whole, or not at all")
        }
        var request = request
        // What the broker changed or left out is signed as it is now.
        let names = signed.filter { !request.values(of: $0).isEmpty }
        guard Set(names).isSuperset(of: ["host"]) else { throw Problem(reason: "its host is not signed") }
        if let body = request.body, kinds.count == 1, kinds[0].utf8.count == 64,
            let index = request.headers.firstIndex(where: { $0.name.lowercased() == Self.digest })
        {
            request.headers[index].value = SHA256.hash(data: body).hexadecimal()
        }
        let credential = ([accessKey] + scope).joined(separator: "/")
        if isInQuery {
            let mark = request.target.firstIndex(of: "?") ?? request.target.endIndex
            let changed: [String] = request.query.compactMap { name, value in
                switch name.lowercased() {
                case "x-amz-credential": "\(name)=\(Self.encoded(credential))"
                case "x-amz-signedheaders": "\(name)=\(Self.encoded(names.joined(separator: ";")))"
                // It is used now.
                case "x-amz-expires": "\(name)=\(max(1, min(Int(value) ?? 1, (Int(exactly: age.rounded()) ?? 0) + 60)))"
                case "x-amz-signature": nil
                default: value.isEmpty ? name + "=" : "\(name)=\(value)"
                }
            }
            request.target = request.target[..<mark] + "?" + changed.joined(separator: "&")
        }
        let code = key.map { signature(of: request, with: $0, path, names: names, time: time) } ?? code
        if isInQuery {
            request.target += "&X-Amz-Signature=\(code)"
        } else if let index = request.headers.firstIndex(where: { $0.name.lowercased() == "authorization" }) {
            request.headers[index].value =
                "\(Self.algorithm) Credential=\(credential), SignedHeaders=\(names.joined(separator: ";")), "
                + "Signature=\(code)"
        }
        return request
    }

    /// In seconds: what AWS takes for clocks that differ.
    private static let patience: TimeInterval = 900

    /// Checks that what is looked at here is what a server looks at: its names are written plainly, and each is there
    /// once.
    private func checkQuery(of request: SignedRequest) throws(Problem) {
        var seen: Set<String> = []
        for (name, _) in request.query {
            let read = BrokerDestination.decoded(name.replacing("+", with: "%20"))?.lowercased() ?? name
            guard read.hasPrefix("x-amz-") else { continue }
            guard read == name.lowercased(), seen.insert(read).inserted else {
                throw Problem(reason: "the query has '\(read)' twice, or in another spelling")
            }
        }
        guard !isInQuery || seen.contains("x-amz-expires") else {
            throw Problem(reason: "the query does not say for how long the signature is good (X-Amz-Expires)")
        }
    }

    private static func date(_ time: String) -> Date? {
        let digits = Array(time.utf8)
        guard digits.count == 16, digits[8] == UInt8(ascii: "T"), digits[15] == UInt8(ascii: "Z"),
            (digits[..<8] + digits[9..<15]).allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        func part(_ range: Range<Int>) -> String { String(decoding: digits[range], as: UTF8.self) }
        return try? Date(
            "\(part(0..<4))-\(part(4..<6))-\(part(6..<8))T\(part(9..<11)):\(part(11..<13)):\(part(13..<15))Z",
            strategy: .iso8601)
    }

    // MARK: The code

    private func signature(
        of request: SignedRequest, with key: UnsafeRawBufferPointer, _ path: Path, names: [String], time: String
    ) -> String {
        let text = [
            Self.algorithm, time, scope.joined(separator: "/"),
            SHA256.hash(data: Data(canonical(request, path, names).utf8)).hexadecimal(),
        ].joined(separator: "\n")
        var material = Array("AWS4".utf8) + key
        defer { material.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
        var derived = SymmetricKey(data: material)
        for part in scope {
            derived = SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Data(part.utf8), using: derived))
        }
        return HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: derived).hexadecimal()
    }

    private func canonical(_ request: SignedRequest, _ path: Path, _ names: [String]) -> String {
        let sent = String(request.target.prefix { $0 != "?" })
        let query = request.query.filter { !isInQuery || $0.name.lowercased() != "x-amz-signature" }
            .map { (Self.normal($0.name), Self.normal($0.value)) }.sorted { $0 < $1 }
            .map { "\($0.0)=\($0.1)" }.joined(separator: "&")
        let lines = names.map { name in
            let values = request.values(of: name).map { $0.split(separator: " ").joined(separator: " ") }
            return "\(name):\(values.joined(separator: ","))\n"
        }
        let digest =
            request.values(of: Self.digest).first
            ?? (isInQuery ? "UNSIGNED-PAYLOAD" : SHA256.hash(data: request.body ?? []).hexadecimal())
        return [
            request.method, path == .asSent ? sent : Self.encoded(sent, keeping: "/"), query, lines.joined(),
            names.joined(separator: ";"), digest,
        ].joined(separator: "\n")
    }

    /// As the signature has a part of the query: each byte but RFC 3986's unreserved ones as `%` and two digits. A
    /// space may have been sent as `+`.
    private static func normal(_ text: String) -> String {
        encoded(BrokerDestination.decoded(text.replacing("+", with: "%20")) ?? text)
    }

    private static func encoded(_ text: String, keeping others: String = "") -> String {
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: result.unicodeScalars.append(Unicode.Scalar(byte))
            case let byte where "-._~".utf8.contains(byte) || others.utf8.contains(byte):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default: result += "%" + CollectionOfOne(byte).hexadecimal(uppercase: true)
            }
        }
        return result
    }
}

extension AWSSignature {
    /// Returns the request that reads what a copy reads.
    ///
    /// A server of S3 has the bucket in the path, or as the first name of its host ("Virtual hosting of buckets" in the
    /// user guide of Amazon S3). There, only the same bucket can be named, because other buckets have other hosts.
    ///
    /// - Parameters:
    ///   - value: Of a header such as `x-amz-copy-source`: `BUCKET/KEY`, perhaps with a slash before it.
    ///   - request: The copy.
    /// - Returns: Nil if the bucket is another one, or the host does not tell how it is addressed.
    package static func source(_ value: String, of request: BrokerRequest) -> BrokerRequest? {
        let path = String((value.hasPrefix("/") ? value.dropFirst() : value[...]).prefix { $0 != "?" })
        let names = request.host.split(separator: ".")
        // A bucket of another service may be called s3-something.
        let isAmazon = request.host.contains(".amazonaws.com")
        let isOfService = names.prefix(2).map { $0 == "s3" || isAmazon && $0.hasPrefix("s3-") }
        var source = request
        source.method = "GET"
        switch (isOfService.first, isOfService.last) {
        case (true, false):
            source.path = "/" + path
            return source
        case (_, true) where names.count > 2:
            guard let slash = path.firstIndex(of: "/"), path[..<slash] == names[0] else { return nil }
            source.path = String(path[slash...])
            return source
        default: return nil
        }
    }
}

extension SecretPlacement {
    /// Signs a request anew, if the program signed it with placeholders.
    ///
    /// A placeholder of the secret access key is the key of the program's signature, so it is found by trying. One of
    /// the access key's identifier stands beside the signature.
    ///
    /// - Parameters:
    ///   - sent: As the program wrote it.
    ///   - outgoing: As it goes out, with the program's signature.
    package mutating func sign(
        _ sent: SignedRequest, _ outgoing: SignedRequest, now: Date = Date()
    ) throws(AWSSignature.Problem) -> SignedRequest {
        guard let signature = AWSSignature(sent) else { return outgoing }
        var (accessKey, key, path) = (signature.accessKey, SecretBytes?.none, AWSSignature.Path?.none)
        var found: Set<Int> = []
        for candidate in candidates {
            let isIdentifier = candidate.placeholder == signature.accessKey
            let placeholder = Array(candidate.placeholder.utf8)
            let made = placeholder.withUnsafeBytes { signature.path(ifMadeWith: $0, for: sent) }
            guard isIdentifier || made != nil else { continue }
            // A key is never written where its identifier stands.
            let place = isIdentifier ? SecretPlace.awsID : .aws
            // The other looks at the request saw the identifier beside other text.
            strays.removeAll { $0.number == candidate.number && [.authorization, .query].contains($0.place) }
            guard candidate.places.contains(place) else {
                strays.append((candidate.number, place))
                continue
            }
            found.insert(candidate.number)
            guard let value = candidate.value else { continue }
            if isIdentifier {
                accessKey = value.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
            } else {
                (key, path) = (value, made)
            }
        }
        guard !found.isEmpty else { return outgoing }
        wanted.formUnion(found)
        guard key != nil || accessKey != signature.accessKey else { return outgoing }
        guard let key else {
            return try signature.signing(outgoing, with: nil, .asSent, accessKey: accessKey, now: now)
        }
        let signed = try key.withUnsafeBytes { bytes throws(AWSSignature.Problem) in
            try signature.signing(outgoing, with: bytes, path ?? .asSent, accessKey: accessKey, now: now)
        }
        self.signature = AWSSignature(signed)?.code
        return signed
    }
}
