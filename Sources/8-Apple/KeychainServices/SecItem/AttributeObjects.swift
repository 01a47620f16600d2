import Foundation
import KeychainModel

/// Attribute names as the strings a dictionary has for keys, made once.
enum AttributeKeys {
    // Safe to share between threads: the table is made once and never written again, and bridging a String makes
    // an NSString and no NSMutableString, so that nothing changes its keys either.
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

    /// A part of a class's primary key and what a dictionary says for it when it was never set.
    struct ShownDefault {
        let name: AttributeName
        let key: NSString
        let object: NSObject
    }

    static func shownDefaults(of itemClass: ItemClass) -> [ShownDefault] {
        defaults[itemClass] ?? []
    }

    // Safe to share between threads: the table is made once and never written again, and its objects are of the
    // immutable classes that strings, data, dates and numbers are bridged to.
    nonisolated(unsafe) private static let defaults: [ItemClass: [ShownDefault]] = {
        var defaults: [ItemClass: [ShownDefault]] = [:]
        for itemClass in ItemClass.allCases {
            defaults[itemClass] = itemClass.schema.primaryKey.compactMap { definition in
                // `sync` has a field of its own.
                guard definition.name != .synchronizable, !definition.name.isShownOnlyWhenSet,
                    let value = definition.defaultValue
                else { return nil }
                return ShownDefault(name: definition.name, key: string(definition.name), object: value.object)
            }
        }
        return defaults
    }()
}

extension AttributeName {
    private static let viewHint: AttributeName = "vwht"

    /// Whether this is a part of the primary key that Apple's dictionaries show only when it holds something.
    var isShownOnlyWhenSet: Bool {
        self == .tokenID || self == .multiUser || self == .sharingGroup || self == .viewHint
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
