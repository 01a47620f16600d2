import Bytes
import Foundation
import KeychainServices

extension ConformanceRunner {
    /// Nil when `operation` is none of SecItem's.
    func performItemOperation(
        _ operation: String, _ arguments: inout ConformanceArguments, _ values: ConformanceValues
    ) throws(ConformanceProblem) -> Outcome? {
        switch operation {
        case "add", "copy":
            let query = try query(&arguments, values)
            var result: CFTypeRef?
            let wantsResult = try arguments.takeBoolean("resultPointer") ?? true
            let status: OSStatus
            if operation == "add" {
                status = wantsResult ? SecItemAdd(query, &result) : SecItemAdd(query, nil)
            } else {
                status = wantsResult ? SecItemCopyMatching(query, &result) : SecItemCopyMatching(query, nil)
            }
            return Outcome(status: Int(status), result: result)
        case "update":
            let query = try query(&arguments, values)
            let changes = try values.dictionary(arguments.take("update") ?? .object([:]))
            return Outcome(status: Int(SecItemUpdate(query, changes)))
        case "delete":
            return Outcome(status: Int(SecItemDelete(try query(&arguments, values))))
        default: return nil
        }
    }

    /// The step's `query`, over a dictionary that an earlier step saved if `queryFrom` names one.
    private func query(
        _ arguments: inout ConformanceArguments, _ values: ConformanceValues
    ) throws(ConformanceProblem) -> NSDictionary {
        let query = arguments.take("query") ?? .object([:])
        guard let origin = arguments.take("queryFrom") else { return try values.dictionary(query) }
        guard var parts = origin.object, let name = parts.removeValue(forKey: "saved")?.string else {
            throw .malformed("the name of a saved dictionary", origin)
        }
        guard let saved = try values.savedResult(name) as? NSDictionary else {
            throw .malformed("a dictionary saved as '\(name)'", nil)
        }
        let base = saved.mutableCopy() as? NSMutableDictionary ?? NSMutableDictionary()
        if let removed = parts.removeValue(forKey: "remove") {
            guard let keys = removed.strings else { throw .malformed("an array of keys", removed) }
            for key in keys { base.removeObject(forKey: try ConformanceValues.keyString(key)) }
        }
        if let unknown = parts.keys.min() { throw .unknown("member of queryFrom", unknown) }
        return try values.dictionary(query, over: base)
    }
}
