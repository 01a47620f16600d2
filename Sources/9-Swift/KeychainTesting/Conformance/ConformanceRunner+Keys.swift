import Foundation
import KeychainServices

extension ConformanceRunner {
    /// Nil when `operation` is none of those on keys.
    func performKeyOperation(
        _ operation: String, _ arguments: inout ConformanceArguments, _ values: ConformanceValues
    ) throws(ConformanceProblem) -> Outcome? {
        switch operation {
        case "create", "createWithData": return try createKey(operation, &arguments, values)
        case "external", "attributes", "publicKey", "blockSize": return try inspectKey(operation, &arguments, values)
        case "isSupported", "sign", "verify", "encrypt", "decrypt", "exchange":
            return try useKey(operation, &arguments, values)
        default: return nil
        }
    }

    private func createKey(
        _ operation: String, _ arguments: inout ConformanceArguments, _ values: ConformanceValues
    ) throws(ConformanceProblem) -> Outcome {
        let data = operation == "create" ? nil : try Self.data("data", &arguments, values)
        let attributes = try values.dictionary(arguments.take("attributes") ?? .object([:]))
        var error: Unmanaged<CFError>?
        let key =
            if let data {
                SecKeyCreateWithData(data, attributes, &error)
            } else {
                SecKeyCreateRandomKey(attributes, &error)
            }
        return Outcome(status: Self.code(of: error), result: key)
    }

    private func inspectKey(
        _ operation: String, _ arguments: inout ConformanceArguments, _ values: ConformanceValues
    ) throws(ConformanceProblem) -> Outcome {
        let key = try Self.object("key", SecKey.self, &arguments, values)
        switch operation {
        case "external":
            var error: Unmanaged<CFError>?
            let representation = SecKeyCopyExternalRepresentation(key, &error)
            return Outcome(status: Self.code(of: error), result: representation)
        case "attributes": return Outcome(result: SecKeyCopyAttributes(key))
        case "publicKey": return Outcome(result: SecKeyCopyPublicKey(key))
        default: return Outcome(result: NSNumber(value: SecKeyGetBlockSize(key)))
        }
    }

    private func useKey(
        _ operation: String, _ arguments: inout ConformanceArguments, _ values: ConformanceValues
    ) throws(ConformanceProblem) -> Outcome {
        let key = try Self.object("key", SecKey.self, &arguments, values)
        let name: NSString = try Self.object("algorithm", NSString.self, &arguments, values)
        let algorithm = SecKeyAlgorithm(rawValue: name)
        if operation == "isSupported" {
            let operation = try Self.operation(arguments.takeString("operation"))
            return Outcome(result: NSNumber(value: SecKeyIsAlgorithmSupported(key, operation, algorithm)))
        }
        var error: Unmanaged<CFError>?
        let result: AnyObject?
        switch operation {
        case "exchange":
            let peer = try Self.object("peer", SecKey.self, &arguments, values)
            let parameters = try values.dictionary(arguments.take("parameters") ?? .object([:]))
            result = SecKeyCopyKeyExchangeResult(key, algorithm, peer, parameters, &error)
        case "verify":
            let input = try Self.data("input", &arguments, values)
            let signature = try Self.data("signature", &arguments, values)
            result = NSNumber(value: SecKeyVerifySignature(key, algorithm, input, signature, &error))
        default:
            let input = try Self.data("input", &arguments, values)
            result =
                switch operation {
                case "sign": SecKeyCreateSignature(key, algorithm, input, &error)
                case "encrypt": SecKeyCreateEncryptedData(key, algorithm, input, &error)
                default: SecKeyCreateDecryptedData(key, algorithm, input, &error)
                }
        }
        return Outcome(status: Self.code(of: error), result: result)
    }

    private static func operation(_ name: String) throws(ConformanceProblem) -> SecKeyOperationType {
        switch name {
        case "sign": .sign
        case "verify": .verify
        case "encrypt": .encrypt
        case "decrypt": .decrypt
        case "keyExchange": .keyExchange
        default: throw .unknown("operation of keys", name)
        }
    }
}
