import Bytes
import Foundation
import KeychainServices

/// A constant of `KeychainServices`, found by its name.
enum ConformanceConstant {
    case string(String)
    case number(Int64)

    init?(named name: String) {
        if let string = ConformanceStringConstants.all[name] {
            self = .string(string)
        } else if let status = ConformanceStatusConstants.all[name] {
            self = .number(Int64(status))
        } else if let flags = Self.flagNames[name].flatMap({ Self.accessControlFlags[$0] }) {
            self = .number(Int64(clamping: flags.rawValue))
        } else if let constant = ConformanceAuthentication.constant(named: name) {
            self = constant
        } else {
            return nil
        }
    }

    var object: AnyObject {
        switch self {
        case .string(let string): string as NSString
        case .number(let number): NSNumber(value: number)
        }
    }

    var json: ConformanceJSON {
        switch self {
        case .string(let string): .string(string)
        case .number(let number): .integer(number)
        }
    }

    /// By the names of Swift's `SecAccessControlCreateFlags`.
    static let accessControlFlags: [String: SecAccessControlCreateFlags] = [
        "userPresence": .userPresence,
        "biometryAny": .biometryAny,
        "touchIDAny": .touchIDAny,
        "biometryCurrentSet": .biometryCurrentSet,
        "touchIDCurrentSet": .touchIDCurrentSet,
        "devicePasscode": .devicePasscode,
        "watch": .watch,
        "companion": .companion,
        "or": .or,
        "and": .and,
        "privateKeyUsage": .privateKeyUsage,
        "applicationPassword": .applicationPassword,
    ]

    /// C's names of the same flags.
    private static let flagNames: [String: String] = [
        "kSecAccessControlUserPresence": "userPresence",
        "kSecAccessControlBiometryAny": "biometryAny",
        "kSecAccessControlTouchIDAny": "touchIDAny",
        "kSecAccessControlBiometryCurrentSet": "biometryCurrentSet",
        "kSecAccessControlTouchIDCurrentSet": "touchIDCurrentSet",
        "kSecAccessControlDevicePasscode": "devicePasscode",
        "kSecAccessControlWatch": "watch",
        "kSecAccessControlCompanion": "companion",
        "kSecAccessControlOr": "or",
        "kSecAccessControlAnd": "and",
        "kSecAccessControlPrivateKeyUsage": "privateKeyUsage",
        "kSecAccessControlApplicationPassword": "applicationPassword",
    ]
}
