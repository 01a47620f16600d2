import Access
import FoundationEssentials
import Frames
import KeychainModel

// What a vault says about itself, and the questions for a person.

extension WireBuffer {
    package func append(_ options: PasscodeOptions) {
        switch options.cost {
        case .interactive: append(UInt8(0))
        case .explicit(let memory, let passes):
            append(UInt8(1))
            append(UInt32(clamping: memory))
            append(UInt32(clamping: passes))
        }
        append(optional: options.eraseAfter) { append(UInt32(clamping: $0)) }
    }

    package func append(_ status: VaultStatus) {
        append(optional: status.path) { append($0) }
        append(status.enclave)
        append(status.lockState.wireCode)
        append(status.isPasscodeSet)
        append(UInt32(clamping: status.failedAttempts))
        append(UInt32(clamping: status.retryAfter))
        append(list: status.itemCounts) { itemClass, count in
            append(itemClass.storedCode)
            append(UInt64(clamping: count))
        }
        append(UInt32(clamping: status.formatVersion))
    }

    package func append(_ report: IntegrityReport) {
        append(UInt64(clamping: report.validItems))
        append(UInt64(clamping: report.lockedItems))
        append(list: report.problems.prefix(WireLimits.reports)) { append($0) }
    }

    package func append(_ availability: PresenceAvailability) {
        append(availability.biometryKind.rawValue)
        append(optional: availability.biometryFailure) { append($0.wireCode) }
        append(optional: availability.biometryState) { append($0) }
        append(availability.isPasscodeSet)
        append(optional: availability.passcodeFailure) { append($0.wireCode) }
    }

    /// - Parameter seconds: How long the answer is waited for.
    package func append(_ question: PasscodeQuestion, seconds: UInt32) {
        append(question.purpose.rawValue)
        append(seconds)
        append(question.reason)
        append(optional: question.complaint) { append($0) }
    }

    package func append(_ answer: PasscodeAnswer) {
        switch answer {
        case .passcode(let passcode):
            append(UInt8(1))
            append(passcode)
        case .canceled: append(UInt8(2))
        case .timedOut: append(UInt8(3))
        case .unavailable(let remedy):
            append(UInt8(4))
            append(remedy)
        }
    }
}

extension WireReader {
    package mutating func passcodeOptions() throws(WireError) -> PasscodeOptions {
        let cost: PasscodeOptions.Cost
        switch try integer(UInt8.self) {
        case 0: cost = .interactive
        case 1:
            cost = .explicit(memoryMiB: Int(try integer(UInt32.self)), passes: Int(try integer(UInt32.self)))
        default: throw WireError("unknown cost")
        }
        let attempts = try optional { reader throws(WireError) in Int(try reader.integer(UInt32.self)) }
        return PasscodeOptions(cost: cost, eraseAfter: attempts)
    }

    package mutating func status() throws(WireError) -> VaultStatus {
        let path = try optionalString()
        let enclave = try string()
        let lockCode = try integer(UInt8.self)
        guard let lockState = LockState.allCases.first(where: { $0.wireCode == lockCode }) else {
            throw WireError("unknown lock state")
        }
        let isPasscodeSet = try bool()
        let failedAttempts = Int(try integer(UInt32.self))
        let retryAfter = Int(try integer(UInt32.self))
        let counts = try list(limit: 16) { reader throws(WireError) in
            (try reader.itemClass(), Int(clamping: try reader.integer(UInt64.self)))
        }
        var status = VaultStatus(
            path: path, enclave: enclave, lockState: lockState, isPasscodeSet: isPasscodeSet,
            itemCounts: Dictionary(counts, uniquingKeysWith: { first, _ in first }),
            formatVersion: Int(try integer(UInt32.self)))
        status.failedAttempts = failedAttempts
        status.retryAfter = retryAfter
        // A program that serves the vault sent it.
        status.isShared = true
        return status
    }

    package mutating func integrityReport() throws(WireError) -> IntegrityReport {
        IntegrityReport(
            validItems: Int(clamping: try integer(UInt64.self)), lockedItems: Int(clamping: try integer(UInt64.self)),
            problems: try strings(limit: WireLimits.reports))
    }

    package mutating func presenceAvailability() throws(WireError) -> PresenceAvailability {
        guard let kind = PresenceAvailability.BiometryKind(rawValue: try integer(UInt8.self)) else {
            throw WireError("unknown kind of biometry")
        }
        return PresenceAvailability(
            biometryKind: kind,
            biometryFailure: try optional { reader throws(WireError) in try reader.authenticationFailure() },
            biometryState: try optional { reader throws(WireError) in try reader.data() }, isPasscodeSet: try bool(),
            passcodeFailure: try optional { reader throws(WireError) in try reader.authenticationFailure() })
    }

    package mutating func question() throws(WireError) -> (question: PasscodeQuestion, seconds: UInt32) {
        guard let purpose = PasscodeQuestion.Purpose(rawValue: try integer(UInt8.self)) else {
            throw WireError("unknown question")
        }
        let seconds = try integer(UInt32.self)
        let question = PasscodeQuestion(
            purpose: purpose, reason: try string(), complaint: try optionalString())
        return (question, seconds)
    }

    package mutating func answer() throws(WireError) -> PasscodeAnswer {
        switch try integer(UInt8.self) {
        case 1: return .passcode(try secret())
        case 2: return .canceled
        case 3: return .timedOut
        case 4: return .unavailable(remedy: try string())
        default: throw WireError("unknown answer")
        }
    }
}

extension LockState {
    fileprivate var wireCode: UInt8 {
        switch self {
        case .beforeFirstUnlock: 0
        case .locked: 1
        case .unlocked: 2
        }
    }
}
