import Foundation
import Synchronization
import Testing

@testable import Credentials

@Suite struct SessionTokensTests {
    private final class Clock: Sendable {
        private let seconds = Mutex(0.0)
        func advance(_ by: TimeInterval) { seconds.withLock { $0 += by } }
        var now: Date { Date(timeIntervalSince1970: 1_000_000 + seconds.withLock { $0 }) }
    }

    private let clock = Clock()
    private let store = MemorySessionStore()
    private var tokens: SessionTokens {
        SessionTokens(store: store, lifetimes: .seconds(idle: 1_000, whole: 5_000, rotation: 100, grace: 10)) {
            [clock] in
            clock.now
        }
    }

    @Test func aFreshToken() async throws {
        let token = try await tokens.issue(for: "ada")
        #expect(token.text.utf8.count == 43)
        #expect(try await tokens.check(token.text)?.account == "ada")
        #expect(try await tokens.check(token.text)?.newToken == nil)
        for wrong in [
            "", "x", SessionToken().text, token.text + "A", String(token.text.dropLast()), token.text.dropLast() + "=",
        ] {
            #expect(try await tokens.check(wrong) == nil)
        }
        // The store has a hash, and no token.
        #expect(await store.session(Data(token.text.utf8)) == nil)
        #expect(await store.session(token.hash) != nil)
    }

    @Test func tokensAreReplaced() async throws {
        let first = try await tokens.issue(for: "ada")
        clock.advance(100)
        let second = try #require(try await tokens.check(first.text)?.newToken)
        // Requests that were on their way.
        clock.advance(10)
        let late = try #require(try await tokens.check(first.text))
        #expect(late.account == "ada" && late.newToken == nil)
        #expect(try await tokens.check(second.text)?.account == "ada")
    }

    /// Whoever shows a token that was replaced a while ago ends the sign-in, and nobody else's.
    @Test func stolenTokens() async throws {
        let (first, other) = (try await tokens.issue(for: "ada"), try await tokens.issue(for: "ada"))
        clock.advance(100)
        let second = try #require(try await tokens.check(first.text)?.newToken)
        #expect(try await tokens.check(second.text) != nil)
        clock.advance(11)
        #expect(try await tokens.check(first.text) == nil)
        #expect(try await tokens.check(second.text) == nil)
        #expect(try await tokens.check(other.text)?.account == "ada")
    }

    /// The answer with the newer token did not arrive.
    @Test func lostTokens() async throws {
        let first = try await tokens.issue(for: "ada")
        clock.advance(100)
        let lost = try #require(try await tokens.check(first.text)?.newToken)
        clock.advance(500)
        let second = try #require(try await tokens.check(first.text)?.newToken)
        #expect(second != lost)
        #expect(try await tokens.check(second.text)?.account == "ada")
        clock.advance(11)
        #expect(try await tokens.check(first.text) == nil)
        #expect(try await tokens.check(second.text) == nil)
    }

    /// However often answers get lost, whoever has the last one stays signed in, as long as somebody comes in time.
    @Test func manyLostTokens() async throws {
        let first = try await tokens.issue(for: "ada")
        var lost: [SessionToken] = []
        for _ in 0..<4 {
            clock.advance(500)
            lost.append(try #require(try await tokens.check(first.text)?.newToken))
        }
        clock.advance(11)
        // The second arrives after all, and is in its turn replaced by the newest.
        let arrived = try #require(try await tokens.check(lost[1].text)?.newToken)
        #expect(try await tokens.check(arrived.text)?.newToken == nil)
        clock.advance(11)
        #expect(try await tokens.check(lost[3].text) == nil)
        #expect(try await tokens.check(arrived.text) == nil)
        let idle = try await tokens.issue(for: "ada")
        clock.advance(500)
        _ = try await tokens.check(idle.text)
        clock.advance(1_000)
        #expect(try await tokens.check(idle.text) == nil)
    }

    /// A thief shows a token that was replaced, before its owner has shown the newer one: whoever is second ends the
    /// sign-in.
    @Test(arguments: [true, false])
    func stolenBeforeTheNewerOneWasShown(isThiefFirst: Bool) async throws {
        let stolen = try await tokens.issue(for: "ada")
        clock.advance(100)
        let owners = try #require(try await tokens.check(stolen.text)?.newToken)
        clock.advance(11)
        let thiefs = try #require(try await tokens.check(stolen.text)?.newToken)
        let (shownFirst, shownThen) = isThiefFirst ? (thiefs, owners) : (owners, thiefs)
        clock.advance(11)
        let newer = try await tokens.check(shownFirst.text)
        #expect(newer?.account == "ada")
        if let newer = newer?.newToken { #expect(try await tokens.check(newer.text) != nil) }
        clock.advance(11)
        #expect(try await tokens.check(shownThen.text) == nil)
        for token in [stolen, owners, thiefs] { #expect(try await tokens.check(token.text) == nil) }
    }

    /// Shown shortly before it is void, a token is replaced, and who shows it once more at that moment ends nothing.
    @Test func rotationAtTheEnd() async throws {
        let first = try await tokens.issue(for: "ada")
        clock.advance(999)
        let second = try #require(try await tokens.check(first.text)?.newToken)
        clock.advance(2)
        #expect(try await tokens.check(first.text)?.account == "ada")
        #expect(try await tokens.check(second.text)?.account == "ada")
        let long = SessionTokens(store: store, lifetimes: .seconds(idle: 100, whole: 5_000, rotation: 1_000, grace: 10))
        {
            [clock] in
            clock.now
        }
        var shown = try await long.issue(for: "ada")
        for _ in 0..<9 {
            clock.advance(60)
            shown = try #require(try await long.check(shown.text)?.newToken)
        }
    }

    @Test func twoAtOnce() async throws {
        let first = try await tokens.issue(for: "ada")
        clock.advance(100)
        let visits = try await withThrowingTaskGroup(of: SessionTokens.Visit?.self) { group in
            for _ in 0..<50 { group.addTask { [tokens] in try await tokens.check(first.text) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(visits.allSatisfy { $0?.account == "ada" })
        #expect(visits.count { $0?.newToken != nil } == 1)
    }

    @Test func tokensEnd() async throws {
        let idle = try await tokens.issue(for: "ada")
        clock.advance(1_000)
        #expect(try await tokens.check(idle.text) == nil)
        var shown = try await tokens.issue(for: "ada")
        for _ in 0..<9 {
            clock.advance(500)
            shown = try #require(try await tokens.check(shown.text)?.newToken)
        }
        clock.advance(500)
        #expect(try await tokens.check(shown.text) == nil)
    }

    @Test func signingOut() async throws {
        let (one, two, bob) = (
            try await tokens.issue(for: "ada"), try await tokens.issue(for: "ada"), try await tokens.issue(for: "bob")
        )
        try await tokens.revoke(one.text)
        try await tokens.revoke("nothing")
        #expect(try await tokens.check(one.text) == nil)
        #expect(try await tokens.check(two.text) != nil)
        try await tokens.revokeAll(of: "ada")
        #expect(try await tokens.check(two.text) == nil)
        #expect(try await tokens.check(bob.text) != nil)
        clock.advance(1_001)
        try await tokens.removeExpired()
        #expect(await store.session(bob.hash) == nil)
    }

    /// A store in memory that nobody tidies does not grow with the time, and keeps what is good.
    @Test func theStoreStaysSmall() async throws {
        // For longer than a session may last: who comes each 60 seconds gets a new token each 120.
        let quiet = try await tokens.issue(for: "quiet")
        var (shown, largest) = (try await tokens.issue(for: "ada"), 0)
        for round in 0..<20_000 {
            clock.advance(60)
            if let visit = try await tokens.check(shown.text) {
                shown = visit.newToken ?? shown
            } else {
                shown = try await tokens.issue(for: "ada")
            }
            #expect(try await tokens.check(shown.text)?.account == "ada")
            if round == 10 { #expect(try await tokens.check(quiet.text)?.account == "quiet") }
            largest = max(largest, await store.count)
        }
        // 1,000 seconds are nine tokens.
        #expect(largest <= 500 + 2 * 9)
        // Sign-ins that nobody goes on with.
        for _ in 0..<5_000 {
            clock.advance(1)
            _ = try await tokens.issue(for: "ada")
            largest = max(largest, await store.count)
        }
        #expect(largest <= 2 * 1_000 + 500)
        // A copied token is still found out.
        let (mine, other) = (try await tokens.issue(for: "bob"), try await tokens.issue(for: "eve"))
        clock.advance(100)
        let stolen = try #require(try await tokens.check(mine.text)?.newToken)
        #expect(try await tokens.check(stolen.text) != nil)
        clock.advance(11)
        for _ in 0..<2_000 { _ = try await tokens.issue(for: "carol") }
        #expect(try await tokens.check(mine.text) == nil)
        #expect(try await tokens.check(stolen.text) == nil)
        #expect(try await tokens.check(other.text)?.account == "eve")
    }
}

extension SessionTokens.Lifetimes {
    fileprivate static func seconds(idle: Int, whole: Int, rotation: Int, grace: Int) -> Self {
        Self(idle: .seconds(idle), whole: .seconds(whole), rotation: .seconds(rotation), grace: .seconds(grace))
    }
}
