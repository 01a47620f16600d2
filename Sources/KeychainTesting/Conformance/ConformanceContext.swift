import Foundation
import KeychainServices

/// Stands for an `LAContext` that a case makes in passing.
final class ConformanceContext: NSObject, _SecAuthenticationContext {
    let interactionNotAllowed: Bool
    let localizedReason: String

    init(_ properties: [String: ConformanceJSON]) throws(ConformanceProblem) {
        var arguments = ConformanceArguments(properties)
        interactionNotAllowed = try arguments.takeBoolean("interactionNotAllowed") ?? false
        let reason = arguments.take("localizedReason") ?? .string("")
        guard let text = reason.string else { throw .malformed("a string as 'localizedReason'", reason) }
        localizedReason = text
        try arguments.finish()
        super.init()
    }
}
