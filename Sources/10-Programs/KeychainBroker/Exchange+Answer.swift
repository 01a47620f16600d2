#if HTTPClientSupport
import Access
import AsyncHTTPClient
import Broker
import Bytes
import NIOCore
import NIOHTTP1
import Synchronization

/// What comes back.
extension Exchange {
    func carry(
        _ outgoing: Outgoing, _ target: BrokerRequest, _ account: inout Account, _ answers: Answers
    ) async throws {
        let request = outgoing.request
        let isOfRule = broker.isOfRule(target.host, target.port)
        let address = try await broker.address(target.host, target.port)
        var progress = account
        defer { account = progress }
        // There is nothing to unpack in an answer without a body.
        let isUnpacking = isOfRule && request.method != .HEAD
        try await broker.clients.withClient(for: target.host, at: address, unpacking: isUnpacking) { client in
            let response = try await client.execute(request, deadline: .distantFuture)
            if progress.isRepeatable, response.status == .unauthorized { throw TokenRefused() }
            if !outgoing.kept.isEmpty {
                let mask = try broker.secrets.mask(with: outgoing.kept)
                self.request.progress.mask.withLock { $0 = $0 ?? mask }
            }
            let type = response.headers.first(name: "content-type")
            guard outgoing.keeping.isEmpty || !KeptTokens.isForm(type) else {
                throw Refusal(
                    status: .badGateway,
                    reason:
                        "the answer with tokens is a form: have the client ask for JSON, with Accept: application/json")
            }
            var head = try answer(response, isOfRule: isOfRule)
            let hasBody = Self.hasBody(head, self.request.head)
            if hasBody, !outgoing.keeping.isEmpty, KeptTokens.reads(type) {
                let body = try await withoutTokens(response.body, outgoing.keeping, &progress)
                progress.record.status = Int(clamping: response.status.code)
                head.headers.remove(name: "Transfer-Encoding")
                head.headers.replaceOrAdd(name: "Content-Length", value: "\(body.readableBytes)")
                await close(&progress)
                try await answers.write(.head(head))
                return try await answers.write(.body(.byteBuffer(body)))
            }
            progress.record.status = Int(clamping: response.status.code)
            let announced = head.headers.first(name: "content-length").flatMap { Int($0) }
            let length = hasBody ? announced : 0
            if length == 0 { await close(&progress) }
            try await answers.write(.head(head))
            try await pass(response.body, length: length, isOfRule: isOfRule, &progress, answers)
        }
    }

    private func answer(_ response: HTTPClientResponse, isOfRule: Bool) throws -> HTTPResponseHead {
        let coding = response.headers[canonicalForm: "content-encoding"].map { $0.lowercased() }
        let isDecoded = isOfRule && request.head.method != .HEAD && (coding == ["gzip"] || coding == ["deflate"])
        let transfer = response.headers[canonicalForm: "transfer-encoding"].map { $0.lowercased() }
        guard StatusGuard.isStatus(Int(clamping: response.status.code)) else {
            throw UntrustedServer(reason: "the server answers with a status that is none")
        }
        guard
            !isOfRule || request.head.method == .HEAD
                || (isDecoded || coding.allSatisfy({ $0 == "identity" })) && transfer.allSatisfy({ $0 == "chunked" })
        else {
            throw Refusal(
                status: .badGateway,
                reason: "the answer is packed with \((coding + transfer).joined(separator: ", ")), which is not looked "
                    + "through")
        }
        let named = response.headers[canonicalForm: "connection"].map { $0.lowercased() }
        var headers = HTTPHeaders()
        for (name, value) in response.headers {
            let lower = name.lowercased()
            if lower == "content-length" {
                if !isDecoded { headers.add(name: name, value: String(value)) }
                continue
            }
            guard !Self.ofTheConnection.contains(lower), !named.contains(lower) else { continue }
            if isDecoded, lower == "content-encoding" { continue }
            headers.add(name: isOfRule ? masked(name) : name, value: isOfRule ? masked(value) : value)
        }
        // The encoder says no ends by itself: see ProxyHandshake.encoder().
        let isFramed = headers.contains(name: "content-length") || request.head.version != .http1_1
        if !request.head.isKeepAlive { headers.add(name: "Connection", value: "close") }
        // Without the server's own words for the status, which could be a secret.
        var head = HTTPResponseHead(
            version: request.head.version, status: HTTPResponseStatus(statusCode: Int(clamping: response.status.code)),
            headers: headers)
        if !isFramed, Self.hasBody(head, request.head) {
            head.headers.add(name: "Transfer-Encoding", value: "chunked")
        }
        return head
    }

    /// RFC 9112, 6.3.
    private static func hasBody(_ answer: HTTPResponseHead, _ request: HTTPRequestHead) -> Bool {
        request.method != .HEAD && answer.status != .noContent && answer.status != .notModified
    }

    /// What finds secrets in the answer.
    var mask: AnswerMask { request.progress.mask.withLock(\.self) ?? broker.secrets.mask }

    func masked(_ text: String) -> String {
        var mask = mask
        var text = text
        let bytes = text.withUTF8 { mask.take(UnsafeRawBufferPointer($0)) } + mask.finish()
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads an answer as a whole, and gives the program placeholders for the tokens in it.
    private func withoutTokens(
        _ body: HTTPClientResponse.Body, _ keeping: [Int], _ account: inout Account
    ) async throws -> ByteBuffer {
        var bytes: [UInt8] = []
        defer { bytes.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
        for try await piece in body {
            account.record.received += Int64(clamping: piece.readableBytes)
            guard bytes.count + piece.readableBytes <= KeptTokens.longest else {
                throw UntrustedServer(
                    reason:
                        "an answer of which tokens are kept has more than \(KeptTokens.longest >> 20) MiB: have the "
                        + "rule name the path of the tokens")
            }
            bytes += piece.readableBytesView
        }
        do {
            let kept = try broker.secrets.keep(tokensIn: bytes, for: keeping)
            bytes.withUnsafeMutableBytes { SecretBytes.wipe($0) }
            bytes = kept
        } catch let problem as KeptTokens.Problem {
            throw UntrustedServer(reason: problem.description)
        }
        // With the tokens of this answer, too.
        var mask = mask
        return ByteBuffer(bytes: bytes.withUnsafeBytes { mask.take($0) } + mask.finish())
    }

    /// - Parameter length: Of the body, as far as the program knows.
    private func pass(
        _ body: HTTPClientResponse.Body, length: Int?, isOfRule: Bool, _ account: inout Account, _ answers: Answers
    ) async throws {
        var mask = mask
        var passed = 0
        func write(_ bytes: ByteBuffer) async throws {
            guard bytes.readableBytes > 0 else { return }
            passed += bytes.readableBytes
            if let length, passed >= length { await close(&account) }
            try await answers.write(.body(.byteBuffer(bytes)))
        }
        for try await piece in body {
            account.record.received += Int64(clamping: piece.readableBytes)
            try await write(isOfRule ? ByteBuffer(bytes: piece.withUnsafeReadableBytes { mask.take($0) }) : piece)
        }
        try await write(ByteBuffer(bytes: mask.finish()))
    }
}
#endif
