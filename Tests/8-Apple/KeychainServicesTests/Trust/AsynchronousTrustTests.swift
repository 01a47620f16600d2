import Foundation
import KeychainServices
import TestSupport
import Testing

/// Evaluations that wait for a server while the program goes on.
@Suite struct AsynchronousTrustTests {
    private let authority: CertificateAuthority
    private let gate = Gate()
    private let server: LoopbackServer

    init() throws {
        let authority = try CertificateAuthority()
        self.authority = authority
        let gate = gate
        server = try LoopbackServer { _ in
            gate.pass()
            return (try? .body(authority.response(about: "leaf"))) ?? .status(500)
        }
        try authority.make("leaf", by: "root", extensions: CertificateAuthority.server(responders: [server.address]))
        try authority.list(revoked: ["leaf"])
    }

    @Test func neitherTheCallerNorTheQueueWaits() throws {
        let trust = try authority.trust(["leaf"], OnlinePolicies.soft)
        let queue = DispatchQueue(label: "of the program")
        let codes = Collected<Int>()
        let results = Collected<SecTrustResultType>()
        let ended = DispatchGroup()
        for _ in 0..<2 { ended.enter() }
        defer { gate.open() }
        #expect(
            SecTrustEvaluateAsyncWithError(trust, queue) { same, isTrusted, error in
                dispatchPrecondition(condition: .onQueue(queue))
                codes.append(isTrusted || same != trust ? 0 : error?.code ?? 0)
                ended.leave()
            } == errSecSuccess)
        #expect(
            SecTrustEvaluateAsync(trust, queue) { _, result in
                dispatchPrecondition(condition: .onQueue(queue))
                results.append(result)
                ended.leave()
            } == errSecSuccess)
        try eventually("the server is asked") { !server.requests.isEmpty }
        // The server waits, and this thread and the queue do not.
        #expect(queue.sync { codes.all.isEmpty && results.all.isEmpty })
        // Functions that read the question do not wait either.
        var result = SecTrustResultType.proceed
        #expect(SecTrustGetTrustResult(trust, &result) == errSecSuccess && result == .invalid)
        var policies: CFArray?
        #expect(SecTrustCopyPolicies(trust, &policies) == errSecSuccess && policies?.count == 2)
        gate.open()
        #expect(ended.wait(timeout: .now() + .seconds(Patience.seconds)) == .success)
        #expect(codes.all == [Int(errSecCertificateRevoked)])
        #expect(results.all == [.fatalTrustFailure])
    }

    @Test func aChangeMeanwhileIsAnotherQuestion() throws {
        let trust = try authority.trust(["leaf"], OnlinePolicies.soft)
        let codes = Collected<Int>()
        let ended = DispatchGroup()
        ended.enter()
        defer { gate.open() }
        #expect(
            SecTrustEvaluateAsyncWithError(trust, DispatchQueue(label: "of the program")) { _, _, error in
                codes.append(error?.code ?? 0)
                ended.leave()
            } == errSecSuccess)
        try eventually("the server is asked") { !server.requests.isEmpty }
        #expect(SecTrustSetPolicies(trust, [SecPolicyCreateSSL(true, "example.com")] as NSArray) == errSecSuccess)
        gate.open()
        #expect(ended.wait(timeout: .now() + .seconds(Patience.seconds)) == .success)
        #expect(codes.all == [Int(errSecCertificateRevoked)])
        var result = SecTrustResultType.proceed
        #expect(SecTrustGetTrustResult(trust, &result) == errSecSuccess && result == .invalid)
        #expect(status(of: trust) == errSecSuccess)
    }

    @Test func manyWaitAtOnce() throws {
        let trusts = try (0..<20).map { _ in try authority.trust(["leaf"], OnlinePolicies.soft) }
        let codes = Collected<Int>()
        let ended = DispatchGroup()
        defer { gate.open() }
        for trust in trusts {
            ended.enter()
            let status = SecTrustEvaluateAsyncWithError(trust, .global()) { _, _, error in
                codes.append(error?.code ?? 0)
                ended.leave()
            }
            #expect(status == errSecSuccess)
        }
        try eventually("the server is asked") { !server.requests.isEmpty }
        gate.open()
        #expect(ended.wait(timeout: .now() + .seconds(Patience.seconds)) == .success)
        #expect(codes.all == [Int](repeating: Int(errSecCertificateRevoked), count: 20))
    }
}
