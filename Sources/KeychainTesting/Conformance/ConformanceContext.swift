import Foundation
import KeychainServices

/// Stands for an `LAContext` that a case makes in passing.
final class ConformanceContext: NSObject, _SecAuthenticationContext {
    init(_ properties: [String: ConformanceJSON]) throws(ConformanceProblem) {
        super.init()
    }
}
