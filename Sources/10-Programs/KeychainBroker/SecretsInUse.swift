#if HTTPClientSupport
import Broker
import Bytes
import Foundation
import Synchronization

/// The secrets of a run, and how often they were used.
final class SecretsInUse: Sendable {
    let rules: [BrokerRule]
    private let placeholders: [String]
    let link: BrokerLink

    struct State {
        var values: [SecretBytes?]
        var uses: [Int]
        /// The rules for which a person said no. Asking again would let the program use up the tries at the
        /// passcode.
        var denied: Set<Int> = []
        /// All secrets of the run in all forms, to be found in answers.
        var mask: AnswerMask
        /// The values that are access tokens of logins, by the numbers of their rules.
        var tokens: [Int: LoginToken]
        /// The access tokens before, the last ones last.
        var formerTokens: [SecretBytes] = []
        /// Tokens of answers, the last ones last.
        var kept: [KeptToken] = []
        /// How many there were in the whole run.
        var keptCount = 0
        /// Those that no request gets any more. Servers may tell them again.
        var formerKept: [SecretBytes] = []

        /// All that is hidden in answers.
        var hidden: [SecretBytes?] { values + formerTokens + formerKept + kept.map(\.value) }
    }

    let state: Mutex<State>

    init(_ start: BrokerStart, _ link: BrokerLink) throws {
        rules = start.settings.rules
        placeholders = start.secrets.map(\.placeholder)
        self.link = link
        let values = start.secrets.map(\.value)
        state = Mutex(
            State(
                values: values, uses: values.map { _ in 0 }, mask: try Self.mask(values),
                tokens: start.secrets.enumerated().reduce(into: [:]) { $0[$1.offset] = $1.element.token }))
    }

    static func mask(_ values: [SecretBytes?]) throws -> AnswerMask {
        try AnswerMask(values.compactMap(\.self))
    }

    /// A mask for one stream of bytes.
    var mask: AnswerMask { state.withLock(\.mask) }

    /// A mask that finds other secrets, too.
    func mask(with others: [SecretBytes]) throws -> AnswerMask {
        try Self.mask(state.withLock(\.hidden) + others)
    }

    /// Whether a program gave the placeholder of a rule.
    func isPlaceholder(_ given: [UInt8], of number: Int) -> Bool {
        isEqualInConstantTime(Data(given), Data(placeholders[number].utf8))
    }

    /// What a request may get.
    ///
    /// - Parameters:
    ///   - now: When the request came: a rule that ends while a person is asked still holds.
    ///   - values: Those that were let out for it.
    func candidates(
        for request: BrokerRequest, at now: Date, values: [Int: SecretBytes] = [:]
    ) -> [SecretPlacement.Candidate] {
        rules.indices.map { number in
            SecretPlacement.Candidate(
                number: number, placeholder: placeholders[number],
                places: rules[number].covers(request, now: now) ? Set(rules[number].places) : [],
                value: values[number])
        } + keptCandidates(for: request, at: now, values: values)
    }

    /// The variables of secrets, in the order of the rules.
    func variables(of numbers: some Sequence<Int>) -> [String] {
        let ofRules = Set(numbers.map { $0 % rules.count })
        var seen: Set<String> = []
        return ofRules.sorted().map { rules[$0].variable }.filter { seen.insert($0).inserted }
    }

    /// The rule of a secret, by the number of the secret.
    func rule(_ number: Int) -> BrokerRule { rules[number % rules.count] }

    /// Why a placeholder stays in a request.
    ///
    /// - Parameter place: Where it stands.
    func explanation(_ number: Int, _ request: BrokerRequest, in place: SecretPlace, at now: Date) -> String {
        let rule = rule(number)
        let name = rule.variable
        if let until = rule.until, until <= now { return "the rule for \(name) has ended" }
        guard rule.destinations.contains(where: { $0.isHost(request.host) && $0.port == request.port }) else {
            return "no rule for \(name) names this server"
        }
        guard rule.destinations.contains(where: { $0.covers(request) }) else {
            return "no rule for \(name) covers this path"
        }
        guard rule.methods.isEmpty || rule.methods.contains(request.method) else {
            return "the rule for \(name) is for \(rule.methods.joined(separator: ", ")) alone"
        }
        guard rule.places.contains(place) else { return "no rule for \(name) has it in the \(place.name)" }
        return "other text stands beside the placeholder of \(name) in the \(place.name): it has to be the whole value"
    }

    /// Why a secret is not let out.
    struct Refusal: Error {
        var reason: String
    }

    /// Lets out the secrets that a request wants, and counts the use. Of several rules for one variable, the first one
    /// that lets it out does.
    func letOut(_ numbers: Set<Int>, for request: BrokerRequest) async throws -> [Int: SecretBytes] {
        var values: [Int: SecretBytes] = [:]
        do {
            let groups = Dictionary(grouping: numbers.sorted()) { isKept($0) ? "\($0)" : rules[$0].variable }
            for numbers in groups.values {
                var refusal: Refusal?
                for number in numbers {
                    do throws(Refusal) {
                        values[number] = try await letOut(number, for: request)
                        refusal = nil
                        break
                    } catch {
                        refusal = refusal ?? error
                    }
                }
                if let refusal { throw refusal }
            }
        } catch {
            // The request does not go out, so nothing was used.
            state.withLock { state in for number in values.keys { state.uses[number % rules.count] -= 1 } }
            throw error
        }
        return values
    }

    private func letOut(_ number: Int, for request: BrokerRequest) async throws(Refusal) -> SecretBytes {
        try await freshToken(number, instead: allowed(number, for: request))
    }

    private func allowed(_ number: Int, for request: BrokerRequest) async throws(Refusal) -> SecretBytes {
        let rule = rule(number)
        let ofRule = number % rules.count
        let isLeft = state.withLock { state in
            guard rule.times.map({ state.uses[ofRule] < $0 }) ?? true else { return false }
            state.uses[ofRule] += 1
            return true
        }
        guard isLeft else {
            throw Refusal(
                reason: "the rule for \(rule.variable) has 'times \(rule.times ?? 0)', which is used up")
        }
        if isKept(number) {
            // A program that has its placeholder got the rule's secret let out before.
            if let value = keptToken(number) { return value }
            state.withLock { $0.uses[ofRule] -= 1 }
            throw Refusal(reason: "the token for \(rule.variable) is too long ago: have the server give another")
        }
        if let value = state.withLock({ $0.values[number] }) { return value }
        let purpose = "use \(rule.variable) at \(request.host) (\(request.method) \(request.path))"
        let isDenied = state.withLock { $0.denied.contains(number) }
        guard !isDenied, let value = await link.value(number, for: purpose) else {
            state.withLock { state in
                state.uses[number] -= 1
                state.denied.insert(number)
            }
            throw Refusal(reason: "nobody allowed the use of \(rule.variable), which is refused from now on")
        }
        let isMasked = state.withLock { state in
            state.values[number] = value
            guard let mask = try? Self.mask(state.hidden) else { return false }
            state.mask = mask
            return true
        }
        guard isMasked else { throw Refusal(reason: "there is no memory to mask \(rule.variable) in answers") }
        return value
    }
}
#endif
