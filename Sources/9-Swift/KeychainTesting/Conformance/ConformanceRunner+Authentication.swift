import Foundation
import KeychainServices
import LocalAuthenticationServices
import Synchronization

extension ConformanceRunner {
    /// Nil when `operation` is none of those on authentication contexts.
    func performAuthenticationOperation(
        _ operation: String, _ arguments: inout ConformanceArguments, _ values: ConformanceValues
    ) throws(ConformanceProblem) -> Outcome? {
        if operation == "la.new" { return Outcome(result: LAContext()) }
        guard
            [
                "la.set", "la.get", "la.invalidate", "la.setCredential", "la.isCredentialSet", "la.canEvaluatePolicy",
                "la.evaluatePolicy", "la.evaluateAccessControl",
            ].contains(operation)
        else { return nil }
        let json = arguments.take("context")
        guard let json, let context = try values.object(json) as? LAContext else {
            throw .malformed("an LAContext as 'context'", json)
        }
        switch operation {
        case "la.set":
            let property = try arguments.takeString("property")
            try ConformanceAuthentication.set(property, of: context, to: arguments.take("value") ?? .null)
            return Outcome()
        case "la.get":
            return Outcome(result: try ConformanceAuthentication.get(arguments.takeString("property"), of: context))
        case "la.setCredential": return try setCredential(of: context, &arguments, values)
        case "la.isCredentialSet":
            let type = try Self.find(ConformanceAuthentication.credentials, "credentialType", &arguments)
            return Outcome(result: NSNumber(value: context.isCredentialSet(type)))
        case "la.canEvaluatePolicy":
            let policy = try Self.find(ConformanceAuthentication.policies, "policy", &arguments)
            var error: NSError?
            let canEvaluate = context.canEvaluatePolicy(policy, error: &error)
            return Outcome(status: error?.code ?? 0, result: NSNumber(value: canEvaluate))
        case "la.evaluatePolicy":
            let policy = try Self.find(ConformanceAuthentication.policies, "policy", &arguments)
            let reason = try arguments.takeString("reason")
            return Self.outcome { context.evaluatePolicy(policy, localizedReason: reason, reply: $0) }
        case "la.evaluateAccessControl": return try evaluateAccessControl(of: context, &arguments, values)
        default:
            context.invalidate()
            return Outcome()
        }
    }

    private func setCredential(
        of context: LAContext, _ arguments: inout ConformanceArguments, _ values: ConformanceValues
    ) throws(ConformanceProblem) -> Outcome {
        let type = try Self.find(ConformanceAuthentication.credentials, "credentialType", &arguments)
        var credential: Data?
        if let json = arguments.take("credential"), json != .null {
            guard let data = try values.object(json) as? Data else { throw .malformed("data as 'credential'", json) }
            credential = data
        }
        return Outcome(result: NSNumber(value: context.setCredential(credential, type: type)))
    }

    private func evaluateAccessControl(
        of context: LAContext, _ arguments: inout ConformanceArguments, _ values: ConformanceValues
    ) throws(ConformanceProblem) -> Outcome {
        let json = arguments.take("accessControl")
        guard let json, let control = try values.object(json) as? SecAccessControl else {
            throw .malformed("an access control as 'accessControl'", json)
        }
        let operation = try Self.find(ConformanceAuthentication.operations, "operation", &arguments)
        let reason = try arguments.takeString("reason")
        return Self.outcome {
            context.evaluateAccessControl(control, operation: operation, localizedReason: reason, reply: $0)
        }
    }

    /// Waits for the reply of an evaluation.
    private static func outcome(
        _ evaluate: (@escaping @Sendable (Bool, (any Error)?) -> Void) -> Void
    ) -> Outcome {
        let replied = DispatchSemaphore(value: 0)
        let reply = ReplyBox()
        evaluate { isSuccess, error in
            reply.content.withLock { $0 = (isSuccess, error.map { ($0 as NSError).code } ?? 0) }
            replied.signal()
        }
        replied.wait()
        let (isSuccess, code) = reply.content.withLock { $0 }
        return Outcome(status: code, result: NSNumber(value: isSuccess))
    }

    private final class ReplyBox: Sendable {
        let content = Mutex<(isSuccess: Bool, code: Int)>((false, 0))
    }

    private static func find<Value>(
        _ names: [String: Value], _ argument: String, _ arguments: inout ConformanceArguments
    ) throws(ConformanceProblem) -> Value {
        let name = try arguments.takeString(argument)
        guard let value = names[name] else { throw .unknown(argument, name) }
        return value
    }
}
