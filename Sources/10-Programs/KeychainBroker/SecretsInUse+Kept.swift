#if HTTPClientSupport
import Broker
import Bytes
import Foundation
import Synchronization

/// A token that a server gave for a secret.
struct KeptToken {
    /// More than the rules' own numbers; divided by their count, the rest is the number of its rule.
    var number: Int
    var placeholder: String
    var value: SecretBytes
}

extension SecretsInUse {
    /// A program can have a server give any number.
    private static let mostKept = 32
    private static let mostFormerKept = 256

    func isKept(_ number: Int) -> Bool { number >= rules.count }

    func keptToken(_ number: Int) -> SecretBytes? {
        state.withLock { state in state.kept.first { $0.number == number }?.value }
    }

    /// What a request may get of the tokens that servers gave.
    func keptCandidates(
        for request: BrokerRequest, at now: Date, values: [Int: SecretBytes]
    ) -> [SecretPlacement.Candidate] {
        state.withLock(\.kept).map { kept in
            let rule = rule(kept.number)
            // Tokens are shown in this header (RFC 6750, 2.1), and no key for AWS is among them.
            let places = Set(rule.places + [.authorization]).subtracting([.aws, .awsID])
            return SecretPlacement.Candidate(
                number: kept.number, placeholder: kept.placeholder,
                places: rule.covers(request, now: now) ? places : [], value: values[kept.number])
        }
    }

    /// Takes the tokens out of an answer to a request that had secrets.
    ///
    /// - Parameters:
    ///   - body: In JSON.
    ///   - numbers: Those of the rules that keep tokens of it. They belong to the first one.
    /// - Returns: The answer with placeholders.
    func keep(tokensIn body: [UInt8], for numbers: [Int]) throws -> [UInt8] {
        guard let number = numbers.first else { return body }
        return try KeptTokens.replace(in: body, Set(numbers.flatMap { rules[$0].keeps })) { token in
            try state.withLock { state in
                let known = state.kept.first { kept in
                    kept.number % rules.count == number
                        && kept.value.withUnsafeBytes { first in
                            token.withUnsafeBytes { isEqualInConstantTime(first, $0) }
                        }
                }
                if let known { return known.placeholder }
                state.keptCount += 1
                let kept = KeptToken(
                    number: number + rules.count * state.keptCount, placeholder: Placeholder.make(forToken: token),
                    value: token)
                let former = state.kept.dropLast(Self.mostKept - 1).map(\.value)
                state.formerKept = (state.formerKept + former).suffix(Self.mostFormerKept)
                state.kept = state.kept.suffix(Self.mostKept - 1) + [kept]
                state.mask = try Self.mask(state.hidden)
                return kept.placeholder
            }
        }
    }
}
#endif
