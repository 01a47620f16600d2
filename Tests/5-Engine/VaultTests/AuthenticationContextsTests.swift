import Access
import Foundation
import KeychainModel
import Synchronization
import TestSupport
import Testing
import VaultInterface

@testable import Vault

/// How long, for whom and for how many contexts the vault remembers what was shown.
@Suite struct AuthenticationContextsTests {
    private final class Clock: Sendable {
        private let time = Mutex(ContinuousClock.now)
        var now: ContinuousClock.Instant { time.withLock { $0 } }
        func advance(by duration: Duration) { time.withLock { $0 += duration } }
    }

    private let clock = Clock()
    private let contexts: AuthenticationContexts

    init() {
        let clock = clock
        contexts = AuthenticationContexts(now: { clock.now })
    }

    @Test func addsUpAndExpires() throws {
        let context = UUID()
        #expect(try contexts.proofs(of: context, .app) == [])
        try contexts.grant(.passcode, to: context, .app)
        try contexts.grant(.biometry, to: context, .app)
        #expect(try contexts.proofs(of: context, .app) == [.passcode, .biometry])
        #expect(try contexts.proofs(of: context, .owner) == [])
        #expect(try contexts.proofs(of: nil, .app) == [])

        clock.advance(by: AuthenticationContexts.lifetime - .seconds(1))
        #expect(try contexts.proofs(of: context, .app) == [.passcode, .biometry])
        clock.advance(by: .seconds(1))
        #expect(try contexts.proofs(of: context, .app) == [])
        // What has expired does not come back with what is shown later.
        try contexts.grant(.biometry, to: context, .app)
        #expect(try contexts.proofs(of: context, .app) == .biometry)
    }

    @Test func isForgottenWithALock() throws {
        let context = UUID()
        try contexts.grant(.passcode, to: context, .app)
        contexts.forgetGrants()
        #expect(try contexts.proofs(of: context, .app) == [])
    }

    @Test func theOldestMakesRoom() throws {
        let all = (0..<(AuthenticationContexts.greatestCount + 10)).map { _ in UUID() }
        for context in all {
            try contexts.grant(.passcode, to: context, .app)
            clock.advance(by: .milliseconds(1))
        }
        let remembered = try all.map { try contexts.proofs(of: $0, .app) == .passcode }
        #expect(remembered == all.indices.map { $0 >= 10 })
    }

    /// A client that ends contexts without end takes little memory, and makes others' ends no shorter.
    @Test func whatIsRememberedOfEndsIsBounded() {
        var ended = EndedContexts()
        let other = ClientContext(UUID(), of: .owner)
        ended.insert(other)
        for _ in 0..<2_000 { ended.insert(ClientContext(UUID(), of: .app)) }
        #expect(ended.contains(other))
        #expect(ended.size.contexts <= 1 + 2 * EndedContexts.keptOfClient)
        for number in 0..<20 {
            let name = "\(number) " + String(repeating: "x", count: 1 << 16)
            let context = ClientContext(UUID(), of: Client(identifier: name, accessGroups: []))
            ended.insert(context)
            #expect(ended.contains(context))
            #expect(ended.size.nameBytes <= EndedContexts.mostNameBytes)
        }
        for number in 0..<1_000 {
            ended.insert(ClientContext(UUID(), of: Client(identifier: "\(number)", accessGroups: [])))
        }
        #expect(ended.size.contexts <= EndedContexts.mostClients)
    }

    @Test func anEndIsAnEnd() throws {
        let context = UUID()
        try contexts.grant(.passcode, to: context, .app)
        contexts.end(context, .app)
        #expect(throws: VaultError.presence(.invalidContext)) { try contexts.proofs(of: context, .app) }
        #expect(throws: VaultError.presence(.appCancel)) { try contexts.grant(.passcode, to: context, .app) }
        // Ending somebody else's changes nothing.
        try contexts.grant(.passcode, to: context, .owner)
        #expect(try contexts.proofs(of: context, .owner) == .passcode)
        // However many ends there are, the latest are known.
        let later = (0..<20_000).map { _ in UUID() }
        for context in later { contexts.end(context, .app) }
        for context in later.suffix(EndedContexts.keptOfClient) {
            #expect(throws: VaultError.self) { try contexts.proofs(of: context, .app) }
        }
    }
}
