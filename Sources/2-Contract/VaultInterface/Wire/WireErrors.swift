import Access
import Bytes
import Frames

// Refusals: a code, then the fields of that code.

extension VaultError: WireValue {
    package func encode(to buffer: FrameBuffer) {
        switch self {
        case .itemNotFound: buffer.write(code: 1)
        case .duplicateItem: buffer.write(code: 2)
        case .accessDenied(let denied): buffer.write(code: 3, denied)
        case .interactionNotAllowed(let reason): buffer.write(code: 4, reason)
        case .classKeyAbsent(let protection): buffer.write(code: 5, protection)
        case .authenticationFailed: buffer.write(code: 6)
        case .userCanceled: buffer.write(code: 7)
        case .presence(let failure): buffer.write(code: 8, failure)
        case .wrongPasscode(let seconds): buffer.write(code: 9, UInt32(clamping: seconds))
        case .passcodeDelayed(let seconds): buffer.write(code: 10, UInt32(clamping: seconds))
        case .passcodeNotSet: buffer.write(code: 11)
        case .passcodeIsSet: buffer.write(code: 12)
        case .erasedAfterWrongPasscodes: buffer.write(code: 13)
        case .invalidRequest(let reason): buffer.write(code: 14, reason)
        case .valueTooLarge(let size, let limit): buffer.write(code: 15, size, limit)
        case .attributesTooLarge(let size, let limit): buffer.write(code: 16, size, limit)
        case .unsupported(let reason): buffer.write(code: 17, reason)
        case .corruptItem(let row, let reason): buffer.write(code: 18, row, reason)
        case .corruptVault(let reason): buffer.write(code: 19, reason)
        case .unusableVault(let reason): buffer.write(code: 20, reason)
        case .readOnly(let reason): buffer.write(code: 21, reason)
        case .diskFull(let reason): buffer.write(code: 22, reason)
        case .inputOutput(let reason): buffer.write(code: 23, reason)
        case .busy: buffer.write(code: 24)
        case .memoryUnavailable: buffer.write(code: 25)
        case .enrolmentChanged: buffer.write(code: 26)
        case .corruptFileKey: buffer.write(code: 27)
        case .itemPasswordMissing: buffer.write(code: 28)
        case .corruptBackup(let reason): buffer.write(code: 29, reason)
        case .quotaExceeded(let group, let limit): buffer.write(code: 30, group, limit)
        case .itemExpired(let date): buffer.write(code: 31, date)
        }
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        switch try reader.read(UInt8.self) {
        case 1: self = .itemNotFound
        case 2: self = .duplicateItem
        case 3: self = .accessDenied(try reader.read())
        case 4: self = .interactionNotAllowed(reason: try reader.read())
        case 5: self = .classKeyAbsent(try reader.read())
        case 6: self = .authenticationFailed
        case 7: self = .userCanceled
        case 8: self = .presence(try reader.read())
        case 9: self = .wrongPasscode(retryAfter: Int(try reader.read(UInt32.self)))
        case 10: self = .passcodeDelayed(retryAfter: Int(try reader.read(UInt32.self)))
        case 11: self = .passcodeNotSet
        case 12: self = .passcodeIsSet
        case 13: self = .erasedAfterWrongPasscodes
        case 14: self = .invalidRequest(reason: try reader.read())
        case 15: self = .valueTooLarge(size: try reader.read(), limit: try reader.read())
        case 16: self = .attributesTooLarge(size: try reader.read(), limit: try reader.read())
        case 17: self = .unsupported(reason: try reader.read())
        case 18: self = .corruptItem(row: try reader.read(), reason: try reader.read())
        case 19: self = .corruptVault(reason: try reader.read())
        case 20: self = .unusableVault(reason: try reader.read())
        case 21: self = .readOnly(reason: try reader.read())
        case 22: self = .diskFull(reason: try reader.read())
        case 23: self = .inputOutput(reason: try reader.read())
        case 24: self = .busy
        case 25: self = .memoryUnavailable
        case 26: self = .enrolmentChanged
        case 27: self = .corruptFileKey
        case 28: self = .itemPasswordMissing
        case 29: self = .corruptBackup(reason: try reader.read())
        case 30: self = .quotaExceeded(group: try reader.read(), limit: try reader.read())
        case 31: self = .itemExpired(try reader.read())
        default: throw FrameError("unknown error")
        }
    }
}

extension AccessDenied: WireValue {
    package func encode(to buffer: FrameBuffer) {
        switch self {
        case .noAccessGroups(let client): buffer.write(code: 1, client)
        case .groupNotHeld(let group, let client): buffer.write(code: 2, group, client)
        case .tokenGroupIsReadOnly: buffer.write(code: 3)
        case .rightNotHeld(let right, let client): buffer.write(code: 4, right, client)
        case .unknownCaller(let reason): buffer.write(code: 5, reason)
        }
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        switch try reader.read(UInt8.self) {
        case 1: self = .noAccessGroups(client: try reader.read())
        case 2: self = .groupNotHeld(group: try reader.read(), client: try reader.read())
        case 3: self = .tokenGroupIsReadOnly
        case 4: self = .rightNotHeld(right: try reader.read(), client: try reader.read())
        case 5: self = .unknownCaller(reason: try reader.read())
        default: throw FrameError("unknown refusal")
        }
    }
}

extension AuthenticationFailure: WireValue {
    package func encode(to buffer: FrameBuffer) { buffer.append(wireCode) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self = try reader.coded("failure to authenticate") { code in Self.allCases.first { $0.wireCode == code } }
    }

    private var wireCode: UInt8 {
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
