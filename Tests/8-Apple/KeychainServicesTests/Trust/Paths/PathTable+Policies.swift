import Foundation
import KeychainServices
import TestSupport

extension PathTable {
    private static let (gold, silver, any) = ("1.2.3.1", "1.2.3.2", "2.5.29.32.0")

    /// A path of two authorities with these extensions.
    private static func policy(
        _ name: String, _ first: [MadeExtension], _ second: [MadeExtension], leaf: [MadeExtension] = [],
        _ status: OSStatus = errSecSuccess, _ difference: PathDifference? = nil
    ) -> PathCase {
        PathCase(
            name,
            [
                PathCase.Member(name: "root", extensions: authority),
                PathCase.Member(name: "first", issuer: "root", extensions: authority + first),
                PathCase.Member(name: "second", issuer: "first", extensions: authority + second),
                PathCase.Member(name: "leaf", issuer: "second", extensions: Self.leaf + leaf),
            ], given: ["leaf", "second", "first"], status, difference)
    }

    /// Certificate policies (RFC 5280, 6.1).
    static let policies: [PathCase] = [
        policy("policies that differ, and nobody asks", [.policies(gold)], [.policies(silver)]),
        policy("mappings, and nobody asks", [.policies(gold), .mappings((gold, silver))], [], leaf: [.policies(gold)]),
        policy(
            "a policy is asked for at once, and is there", [.policyConstraints(explicit: 0), .policies(gold)],
            [.policies(gold)], leaf: [.policies(gold)]),
        policy(
            "a policy is asked for at once, and none is there", [.policyConstraints(explicit: 0)], [],
            errSecInvalidPolicyIdentifiers),
        policy(
            "a policy is asked for, and the certificate has none", [.policyConstraints(explicit: 0), .policies(gold)],
            [.policies(gold)], errSecInvalidPolicyIdentifiers),
        policy(
            "a policy is asked for, and an authority has none", [.policyConstraints(explicit: 0), .policies(gold)], [],
            leaf: [.policies(gold)], errSecInvalidPolicyIdentifiers),
        policy(
            "a policy is asked for, and the certificate has another",
            [.policyConstraints(explicit: 0), .policies(gold)], [.policies(gold)], leaf: [.policies(silver)],
            errSecInvalidPolicyIdentifiers),
        policy(
            "a policy is asked for, and there are two",
            [.policyConstraints(explicit: 0), .policies(gold, silver)], [.policies(silver)],
            leaf: [.policies(gold, silver)]),
        policy("a policy is asked for later than the path is long", [.policyConstraints(explicit: 3)], []),
        policy(
            "a policy is asked for at the end of the path", [.policyConstraints(explicit: 2)], [],
            errSecInvalidPolicyIdentifiers),
        policy(
            "the second authority asks for a policy", [.policies(gold)],
            [.policyConstraints(explicit: 0), .policies(gold)], leaf: [.policies(gold)]),
        policy(
            "the second authority asks for a policy that the first has not", [],
            [.policyConstraints(explicit: 0), .policies(gold)], leaf: [.policies(gold)], errSecInvalidPolicyIdentifiers),
        policy(
            "the certificate itself asks for a policy", [], [], leaf: [.policyConstraints(explicit: 0)],
            errSecInvalidPolicyIdentifiers),
        policy(
            "the certificate itself asks for a policy, which is there", [.policies(gold)], [.policies(gold)],
            leaf: [.policyConstraints(explicit: 0), .policies(gold)]),
        policy(
            "the certificate itself asks for a policy later", [], [], leaf: [.policyConstraints(explicit: 1)]),
        policy(
            "any policy", [.policyConstraints(explicit: 0), .policies(any)], [.policies(any)], leaf: [.policies(gold)]),
        policy(
            "any policy of the certificate", [.policyConstraints(explicit: 0), .policies(gold)], [.policies(gold)],
            leaf: [.policies(any)]),
        policy(
            "any policy is not allowed", [.policyConstraints(explicit: 0), .inhibitAnyPolicy(0), .policies(gold)],
            [.policies(any)], leaf: [.policies(gold)], errSecInvalidPolicyIdentifiers),
        policy(
            "any policy is not allowed, and nobody has it",
            [.policyConstraints(explicit: 0), .inhibitAnyPolicy(0), .policies(gold)], [.policies(gold)],
            leaf: [.policies(gold)]),
        policy(
            "any policy is allowed once", [.policyConstraints(explicit: 0), .inhibitAnyPolicy(1), .policies(gold)],
            [.policies(any)], leaf: [.policies(gold)]),
        policy(
            "any policy is allowed once, and is there twice",
            [.policyConstraints(explicit: 0), .inhibitAnyPolicy(1), .policies(any)], [.policies(any)],
            leaf: [.policies(any)], errSecInvalidPolicyIdentifiers),
        policy(
            "any policy is not allowed, and nobody asks", [.inhibitAnyPolicy(0)], [.policies(any)],
            leaf: [.policies(any)]),
        policy(
            "a mapping",
            [.policyConstraints(explicit: 0), .policies(gold), .mappings((gold, silver))], [.policies(silver)],
            leaf: [.policies(silver)]),
        policy(
            "a mapping away from the policy",
            [.policyConstraints(explicit: 0), .policies(gold), .mappings((gold, silver))], [.policies(gold)],
            leaf: [.policies(gold)], errSecInvalidPolicyIdentifiers),
        policy(
            "a mapping of a policy that is not there",
            [.policyConstraints(explicit: 0), .policies(gold), .mappings((silver, gold))], [.policies(silver)],
            leaf: [.policies(silver)], errSecInvalidPolicyIdentifiers),
        policy(
            "two mappings",
            [.policyConstraints(explicit: 0), .policies(gold), .mappings((gold, silver))],
            [.policies(silver), .mappings((silver, "1.2.3.3"))], leaf: [.policies("1.2.3.3")]),
        policy(
            "a mapping from any policy", [.policies(gold), .mappings((any, silver))], [.policies(gold)],
            errSecInvalidPolicyIdentifiers),
        policy(
            "a mapping to any policy", [.policies(gold), .mappings((gold, any))], [.policies(gold)],
            errSecInvalidPolicyIdentifiers),
        policy(
            "mappings are not allowed",
            [.policyConstraints(explicit: 0, mapping: 0), .policies(gold)],
            [.policies(gold), .mappings((gold, silver))], leaf: [.policies(silver)], errSecInvalidPolicyIdentifiers),
        policy(
            "mappings are not allowed, and there is none",
            [.policyConstraints(explicit: 0, mapping: 0), .policies(gold)], [.policies(gold)], leaf: [.policies(gold)]),
        policy(
            "mappings are allowed once",
            [.policyConstraints(explicit: 0, mapping: 1), .policies(gold)],
            [.policies(gold), .mappings((gold, silver))], leaf: [.policies(silver)]),
        policy(
            "mappings are not allowed, and nobody asks", [.policyConstraints(mapping: 0), .policies(gold)],
            [.policies(gold), .mappings((gold, silver))], leaf: [.policies(silver)]),
        policy(
            "a mapping beside any policy",
            [.policyConstraints(explicit: 0), .policies(any), .mappings((gold, silver))],
            [.policies(silver)], leaf: [.policies(silver)]),
        PathCase(
            "an anchor that asks for a policy", root: authority + [.policyConstraints(explicit: 0)], errSecSuccess),
        PathCase(
            "an anchor with a policy", root: authority + [.policies(gold)], leaf: leaf + [.policies(silver)],
            errSecSuccess),
        policy(
            "a policy with a critical extension",
            [MadeExtension.policyConstraints(explicit: 0), MadeExtension.policies(gold).critical],
            [MadeExtension.policies(gold).critical], leaf: [MadeExtension.policies(gold).critical]),
        policy(
            "a policy twice in one extension", [.policyConstraints(explicit: 0), .policies(gold, gold)],
            [.policies(gold)], leaf: [.policies(gold)], errSecInvalidPolicyIdentifiers),
    ]
}
