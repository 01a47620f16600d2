import Bytes
import Foundation
import LocalAuthenticationServices

/// The names that cases use for what `LAContext` speaks of.
enum ConformanceAuthentication {
    static let policies: [String: LAPolicy] = [
        "deviceOwnerAuthenticationWithBiometrics": .deviceOwnerAuthenticationWithBiometrics,
        "deviceOwnerAuthentication": .deviceOwnerAuthentication,
        "deviceOwnerAuthenticationWithWatch": .deviceOwnerAuthenticationWithWatch,
        "deviceOwnerAuthenticationWithCompanion": .deviceOwnerAuthenticationWithCompanion,
        "deviceOwnerAuthenticationWithBiometricsOrWatch": .deviceOwnerAuthenticationWithBiometricsOrWatch,
        "deviceOwnerAuthenticationWithBiometricsOrCompanion": .deviceOwnerAuthenticationWithBiometricsOrCompanion,
    ]

    static let operations: [String: LAAccessControlOperation] = [
        "createItem": .createItem, "useItem": .useItem, "createKey": .createKey, "useKeySign": .useKeySign,
        "useKeyDecrypt": .useKeyDecrypt, "useKeyKeyExchange": .useKeyKeyExchange,
    ]

    static let credentials: [String: LACredentialType] = [
        "applicationPassword": .applicationPassword, "smartCardPIN": .smartCardPIN,
    ]

    private static let biometryTypes: [String: LABiometryType] = [
        "none": .none, "touchID": .touchID, "faceID": .faceID, "opticID": .opticID,
    ]

    private static let errors: [String: LAError.Code] = [
        "authenticationFailed": .authenticationFailed, "userCancel": .userCancel, "userFallback": .userFallback,
        "systemCancel": .systemCancel, "passcodeNotSet": .passcodeNotSet,
        "biometryNotAvailable": .biometryNotAvailable, "biometryNotEnrolled": .biometryNotEnrolled,
        "biometryLockout": .biometryLockout, "touchIDNotAvailable": .touchIDNotAvailable,
        "touchIDNotEnrolled": .touchIDNotEnrolled, "touchIDLockout": .touchIDLockout, "appCancel": .appCancel,
        "invalidContext": .invalidContext, "companionNotAvailable": .companionNotAvailable,
        "watchNotAvailable": .watchNotAvailable, "biometryNotPaired": .biometryNotPaired,
        "biometryDisconnected": .biometryDisconnected, "invalidDimensions": .invalidDimensions,
        "notInteractive": .notInteractive,
    ]

    /// The value of a constant with a type before its name, such as `LAError.userCancel`.
    static func constant(named name: String) -> ConformanceConstant? {
        if name == "LAErrorDomain" { return .string(LAErrorDomain) }
        if name == "LATouchIDAuthenticationMaximumAllowableReuseDuration" {
            return .number(Int64(clamping: LATouchIDAuthenticationMaximumAllowableReuseDuration))
        }
        let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { return nil }
        let number: Int? =
            switch parts[0] {
            case "LAError": errors[parts[1]]?.rawValue
            case "LAPolicy": policies[parts[1]]?.rawValue
            case "LAAccessControlOperation": operations[parts[1]]?.rawValue
            case "LACredentialType": credentials[parts[1]]?.rawValue
            case "LABiometryType": biometryTypes[parts[1]]?.rawValue
            default: nil
            }
        return number.map { .number(Int64($0)) }
    }

    /// A fresh context with these properties.
    static func context(_ properties: [String: ConformanceJSON]) throws(ConformanceProblem) -> LAContext {
        let context = LAContext()
        for (name, value) in properties { try set(name, of: context, to: value) }
        return context
    }

    static func set(_ property: String, of context: LAContext, to value: ConformanceJSON) throws(ConformanceProblem) {
        switch (property, value) {
        case ("interactionNotAllowed", .boolean(let boolean)): context.interactionNotAllowed = boolean
        case ("localizedReason", .string(let text)): context.localizedReason = text
        case ("localizedFallbackTitle", .string(let text)): context.localizedFallbackTitle = text
        case ("localizedFallbackTitle", .null): context.localizedFallbackTitle = nil
        case ("localizedCancelTitle", .string(let text)): context.localizedCancelTitle = text
        case ("localizedCancelTitle", .null): context.localizedCancelTitle = nil
        case ("touchIDAuthenticationAllowableReuseDuration", .integer(let seconds)):
            context.touchIDAuthenticationAllowableReuseDuration = TimeInterval(seconds)
        case ("touchIDAuthenticationAllowableReuseDuration", .real(let seconds)):
            context.touchIDAuthenticationAllowableReuseDuration = seconds
        default: throw .unknown("property to set", property)
        }
    }

    static func get(_ property: String, of context: LAContext) throws(ConformanceProblem) -> AnyObject? {
        switch property {
        case "interactionNotAllowed": NSNumber(value: context.interactionNotAllowed)
        case "localizedReason": context.localizedReason as NSString
        case "localizedFallbackTitle": context.localizedFallbackTitle as NSString?
        case "localizedCancelTitle": context.localizedCancelTitle as NSString?
        case "touchIDAuthenticationAllowableReuseDuration":
            NSNumber(value: context.touchIDAuthenticationAllowableReuseDuration)
        case "biometryType": NSNumber(value: context.biometryType.rawValue)
        case "evaluatedPolicyDomainState": context.evaluatedPolicyDomainState as NSData?
        case "domainState.stateHash": context.domainState.stateHash as NSData?
        case "domainState.biometry.stateHash": context.domainState.biometry.stateHash as NSData?
        case "domainState.biometry.biometryType": NSNumber(value: context.domainState.biometry.biometryType.rawValue)
        default: throw .unknown("property", property)
        }
    }
}
