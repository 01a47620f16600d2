#if HTTPClientSupport
import Broker
import Bytes
import Foundation
import Synchronization

/// The access tokens of logins that are waited for, by the number of their rule and the attempt of the present one.
final class TokenRenewals: Sendable {
    typealias Answer = (RenewedToken, SecretBytes?)

    private let waiting = Mutex<[Int: [CheckedContinuation<Answer, Never>]]>([:])

    /// Waits for the next token of a rule. Those who wait for the same share it.
    ///
    /// - Parameter ask: Called once for all of them.
    func next(_ number: Int, _ ask: @escaping @Sendable () async -> Void) async -> Answer {
        await withCheckedContinuation { continuation in
            let isFirst = waiting.withLock { waiting in
                waiting[number, default: []].append(continuation)
                return waiting[number]?.count == 1
            }
            if isFirst { Task { await ask() } }
        }
    }

    func take(_ renewed: RenewedToken, _ token: SecretBytes?) {
        let continuations = waiting.withLock { $0.removeValue(forKey: renewed.rule) } ?? []
        for continuation in continuations { continuation.resume(returning: (renewed, token)) }
    }
}

extension SecretsInUse {
    /// The former tokens of a login that are still hidden in answers.
    private static let mostFormer = 32
    /// A program can have a server refuse any token. In seconds.
    private static let leastAge: Int64 = 30

    private static var now: Int64 { Int64(clamping: Date().timeIntervalSince1970.rounded(.down)) }

    /// Returns the value, or a token that is good for longer if the value is the access token of a login and near its
    /// end.
    func freshToken(_ number: Int, instead value: SecretBytes) async throws(Refusal) -> SecretBytes {
        guard let token = state.withLock({ $0.tokens[number] }), token.isStale(now: Self.now) else { return value }
        do throws(Refusal) {
            return try await renew(number, token)
        } catch {
            // The login's server is out of reach, and this token is still good.
            guard token.isOver(now: Self.now) else { return value }
            throw error
        }
    }

    /// Whether one of these variables is of a login.
    func hasTokens(_ variables: [String]) -> Bool {
        state.withLock { state in state.tokens.keys.contains { variables.contains(rules[$0].variable) } }
    }

    /// Gets new access tokens after a server refused those that a request had.
    ///
    /// - Parameter variables: Of the secrets that the request had.
    /// - Returns: Whether there is one, so that the request may be sent once more.
    func renewRefused(_ variables: [String]) async -> Bool {
        var isNew = false
        for number in rules.indices where variables.contains(rules[number].variable) {
            guard let token = state.withLock({ $0.tokens[number] }), token.age(now: Self.now) >= Self.leastAge else {
                continue
            }
            if (try? await renew(number, token)) != nil { isNew = true }
        }
        return isNew
    }

    private func renew(_ number: Int, _ token: LoginToken) async throws(Refusal) -> SecretBytes {
        let (renewed, secret) = await link.renewals.next(number) { [link] in
            await link.send(.renew(number, token.attempt))
        }
        let name = rules[number].variable
        guard let secret, let token = renewed.token else {
            throw Refusal(reason: "\(name) has no access token: \(renewed.reason ?? "its login cannot be used")")
        }
        let isMasked = state.withLock { state in
            guard state.tokens[number]?.attempt != token.attempt else { return true }
            if let old = state.values[number] { state.formerTokens.append(old) }
            state.formerTokens = state.formerTokens.suffix(Self.mostFormer)
            state.values[number] = secret
            state.tokens[number] = token
            guard let mask = try? Self.mask(state.hidden) else { return false }
            state.mask = mask
            return true
        }
        guard isMasked else { throw Refusal(reason: "there is no memory to mask \(name) in answers") }
        return secret
    }
}
#endif
