import Foundation
import KeychainModel

/// Attribute names as the strings a dictionary has for keys, made once.
enum AttributeKeys {
    // Immutable strings in a table that is never written again.
    nonisolated(unsafe) private static let strings: [AttributeName: NSString] = {
        var strings: [AttributeName: NSString] = [:]
        for itemClass in ItemClass.allCases {
            for name in itemClass.schema.names { strings[name] = name.string as NSString }
        }
        return strings
    }()

    static func string(_ name: AttributeName) -> NSString {
        strings[name] ?? name.string as NSString
    }
}

extension AttributeValue {
    /// The value as an object of the type it was given in.
    var object: NSObject {
        switch self {
        case .string(let string): string as NSString
        case .data(let data): data as NSData
        case .number(let number): NSNumber(value: number)
        case .real(let real): NSNumber(value: real)
        case .date(let date): date as NSDate
        }
    }
}
