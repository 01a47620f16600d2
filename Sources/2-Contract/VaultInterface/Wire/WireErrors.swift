import Access
import Frames
import KeychainModel

// Refusals: a code, then the fields of that code.

extension WireBuffer {
    package func append(_ error: VaultError) {
        switch error {
        case .itemNotFound: append(UInt8(1))
        case .duplicateItem: append(UInt8(2))
        case .accessDenied(let denied):
            append(UInt8(3))
            append(denied)
        case .interactionNotAllowed(let reason): append(4, reason)
        case .classKeyAbsent(let protection):
            append(UInt8(5))
            append(protection.storedCode)
        case .authenticationFailed: append(UInt8(6))
        case .userCanceled: append(UInt8(7))
        case .presence(let failure):
            append(UInt8(8))
            append(failure.wireCode)
        case .wrongPasscode(let seconds): append(9, seconds: seconds)
        case .passcodeDelayed(let seconds): append(10, seconds: seconds)
        case .passcodeNotSet: append(UInt8(11))
        case .passcodeIsSet: append(UInt8(12))
        case .erasedAfterWrongPasscodes: append(UInt8(13))
        case .invalidRequest(let reason): append(14, reason)
        case .valueTooLarge(let size, let limit): append(15, Int64(size), Int64(limit))
        case .attributesTooLarge(let size, let limit): append(16, Int64(size), Int64(limit))
        case .unsupported(let reason): append(17, reason)
        case .corruptItem(let row, let reason):
            append(UInt8(18))
            append(row)
            append(reason)
        case .corruptVault(let reason): append(19, reason)
        case .unusableVault(let reason): append(20, reason)
        case .readOnly(let reason): append(21, reason)
        case .diskFull(let reason): append(22, reason)
        case .inputOutput(let reason): append(23, reason)
        case .busy: append(UInt8(24))
        case .memoryUnavailable: append(UInt8(25))
        case .enrolmentChanged: append(UInt8(26))
        case .corruptFileKey: append(UInt8(27))
        case .itemPasswordMissing: append(UInt8(28))
        }
    }

    private func append(_ code: UInt8, _ reason: String) {
        append(code)
        append(reason)
    }

    private func append(_ code: UInt8, seconds: Int) {
        append(code)
        append(UInt32(clamping: seconds))
    }

    private func append(_ code: UInt8, _ first: Int64, _ second: Int64) {
        append(code)
        append(first)
        append(second)
    }

    private func append(_ denied: AccessDenied) {
        switch denied {
        case .noAccessGroups(let client):
            append(1, client)
        case .groupNotHeld(let group, let client):
            append(2, group)
            append(client)
        case .tokenGroupIsReadOnly:
            append(UInt8(3))
        case .rightNotHeld(let right, let client):
            append(4, right)
            append(client)
        case .unknownCaller(let reason):
            append(5, reason)
        }
    }
}

extension WireReader {
    package mutating func vaultError() throws(WireError) -> VaultError {
        switch try integer(UInt8.self) {
        case 1: return .itemNotFound
        case 2: return .duplicateItem
        case 3: return .accessDenied(try accessDenied())
        case 4: return .interactionNotAllowed(reason: try string())
        case 5: return .classKeyAbsent(try protection())
        case 6: return .authenticationFailed
        case 7: return .userCanceled
        case 8: return .presence(try authenticationFailure())
        case 9: return .wrongPasscode(retryAfter: Int(try integer(UInt32.self)))
        case 10: return .passcodeDelayed(retryAfter: Int(try integer(UInt32.self)))
        case 11: return .passcodeNotSet
        case 12: return .passcodeIsSet
        case 13: return .erasedAfterWrongPasscodes
        case 14: return .invalidRequest(reason: try string())
        case 15: return .valueTooLarge(size: Int(try integer(Int64.self)), limit: Int(try integer(Int64.self)))
        case 16: return .attributesTooLarge(size: Int(try integer(Int64.self)), limit: Int(try integer(Int64.self)))
        case 17: return .unsupported(reason: try string())
        case 18: return .corruptItem(row: try integer(Int64.self), reason: try string())
        case 19: return .corruptVault(reason: try string())
        case 20: return .unusableVault(reason: try string())
        case 21: return .readOnly(reason: try string())
        case 22: return .diskFull(reason: try string())
        case 23: return .inputOutput(reason: try string())
        case 24: return .busy
        case 25: return .memoryUnavailable
        case 26: return .enrolmentChanged
        case 27: return .corruptFileKey
        case 28: return .itemPasswordMissing
        default: throw WireError("unknown error")
        }
    }

    private mutating func accessDenied() throws(WireError) -> AccessDenied {
        switch try integer(UInt8.self) {
        case 1: return .noAccessGroups(client: try string())
        case 2: return .groupNotHeld(group: try string(), client: try string())
        case 3: return .tokenGroupIsReadOnly
        case 4: return .rightNotHeld(right: try string(), client: try string())
        case 5: return .unknownCaller(reason: try string())
        default: throw WireError("unknown refusal")
        }
    }

    package mutating func authenticationFailure() throws(WireError) -> AuthenticationFailure {
        let code = try integer(UInt8.self)
        guard let failure = AuthenticationFailure.allCases.first(where: { $0.wireCode == code }) else {
            throw WireError("unknown failure to authenticate")
        }
        return failure
    }
}

extension AuthenticationFailure {
    var wireCode: UInt8 {
        switch self {
        case .authenticationFailed: 1
        case .userCancel: 2
        case .userFallback: 3
        case .systemCancel: 4
        case .appCancel: 5
        case .passcodeNotSet: 6
        case .biometryNotAvailable: 7
        case .biometryNotEnrolled: 8
        case .biometryLockout: 9
        case .companionNotAvailable: 10
        case .biometryNotPaired: 11
        case .biometryDisconnected: 12
        case .invalidContext: 13
        case .notInteractive: 14
        }
    }
}
