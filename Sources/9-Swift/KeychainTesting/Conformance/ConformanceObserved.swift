import Foundation
import KeychainServices

/// A value as a caller of the keychain sees it: what came back, or what is expected to come back.
enum ConformanceObserved: Hashable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case real(Double)
    case string(String)
    case data(Data)
    case date(Date)
    case array([ConformanceObserved])
    case dictionary([String: ConformanceObserved])
    /// A key, certificate, identity, access control or context.
    case reference(AnyHashable)

    init(_ object: AnyObject?) {
        switch object {
        case nil, is NSNull: self = .null
        case let number as NSNumber:
            if isCFBoolean(number) {
                self = .boolean(number.boolValue)
            } else if number.doubleValue == Double(number.int64Value) {
                self = .integer(number.int64Value)
            } else {
                self = .real(number.doubleValue)
            }
        case let string as NSString: self = .string(string as String)
        case let data as NSData: self = .data(data as Data)
        case let date as NSDate: self = .date(date as Date)
        case let array as NSArray: self = .array(array.map { Self($0 as AnyObject) })
        case let dictionary as NSDictionary:
            var members: [String: ConformanceObserved] = [:]
            for (key, value) in dictionary {
                members["\(key)"] = Self(value as AnyObject)
            }
            self = .dictionary(members)
        case let reference as AnyHashable: self = .reference(reference)
        case let other?: self = .string("unexpected \(type(of: other))")
        }
    }

    /// The name that the matcher `type` has for it.
    var typeName: String {
        switch self {
        case .null: "null"
        case .boolean: "boolean"
        case .integer, .real: "number"
        case .string: "string"
        case .data: "data"
        case .date: "date"
        case .array: "array"
        case .dictionary: "dictionary"
        case .reference: "ref"
        }
    }

    /// Whether the two are equal where numbers and Booleans compare by value.
    func isEqual(to other: ConformanceObserved) -> Bool {
        switch (self, other) {
        case (.boolean, .integer), (.integer, .boolean), (.boolean, .boolean): numericValue == other.numericValue
        case (.array(let left), .array(let right)):
            left.count == right.count && zip(left, right).allSatisfy { $0.isEqual(to: $1) }
        case (.dictionary(let left), .dictionary(let right)):
            left.count == right.count && left.allSatisfy { key, value in right[key].map(value.isEqual) ?? false }
        case (.reference(let left), .reference(let right)): left == right
        // Strings in Swift are equal when they look the same; the keychain compares bytes.
        case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
        default: self == other
        }
    }

    private var numericValue: Int64? {
        switch self {
        case .boolean(let boolean): boolean ? 1 : 0
        case .integer(let integer): integer
        default: nil
        }
    }
}

extension ConformanceObserved: CustomStringConvertible {
    /// The value in short: a case's data are public, so they may be shown.
    var description: String {
        switch self {
        case .null: "null"
        case .boolean(let boolean): "\(boolean)"
        case .integer(let integer): "\(integer)"
        case .real(let real): "\(real)"
        case .string(let string): "\"\(string)\""
        case .data(let data):
            data.count <= 48
                ? "data \(data.base64EncodedString())"
                : "data \(data.prefix(36).base64EncodedString())… (\(data.count) bytes)"
        case .date(let date): "date \(date.timeIntervalSinceReferenceDate)"
        case .array(let array): "[" + array.map(\.description).joined(separator: ", ") + "]"
        case .dictionary(let members):
            "{" + members.sorted { $0.key < $1.key }.map { "\($0): \($1)" }.joined(separator: ", ") + "}"
        case .reference(let reference): "\(type(of: reference.base))"
        }
    }
}
