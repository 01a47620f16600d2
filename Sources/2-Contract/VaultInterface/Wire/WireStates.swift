import Access
import Bytes
import Frames
import KeychainModel

// What a vault says about itself, and the questions for a person.

extension PasscodeOptions: WireValue {
    package func encode(to buffer: FrameBuffer) {
        switch cost {
        case .interactive: buffer.write(code: 0)
        case .explicit(let memory, let passes):
            buffer.write(code: 1, UInt32(clamping: memory), UInt32(clamping: passes))
        }
        buffer.write(eraseAfter.map(UInt32.init(clamping:)))
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        switch try reader.read(UInt8.self) {
        case 0: self.init(cost: .interactive)
        case 1:
            self.init(
                cost: .explicit(memoryMiB: Int(try reader.read(UInt32.self)), passes: Int(try reader.read(UInt32.self)))
            )
        default: throw FrameError("unknown cost")
        }
        eraseAfter = try reader.read(UInt32?.self).map(Int.init)
    }
}

extension VaultStatus: WireValue {
    package func encode(to buffer: FrameBuffer) {
        buffer.write(
            path, enclave, lockState, isPasscodeSet, UInt32(clamping: failedAttempts), UInt32(clamping: retryAfter))
        buffer.append(list: itemCounts) { itemClass, count in buffer.write(itemClass, count) }
        buffer.write(UInt32(clamping: formatVersion))
        buffer.write(recoveryKey)
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self.init(
            path: try reader.read(), enclave: try reader.read(), lockState: try reader.read(),
            isPasscodeSet: try reader.read(), itemCounts: [:], formatVersion: 0)
        failedAttempts = Int(try reader.read(UInt32.self))
        retryAfter = Int(try reader.read(UInt32.self))
        let classes = try reader.count(limit: 16)
        for _ in 0..<classes {
            let itemClass = try reader.read(ItemClass.self)
            itemCounts[itemClass] = try reader.read(Int.self)
        }
        formatVersion = Int(try reader.read(UInt32.self))
        recoveryKey = try reader.read()
        // A program that serves the vault sent it.
        isShared = true
    }
}

extension RecoveryKeyState: WireValue {
    package func encode(to buffer: FrameBuffer) {
        switch self {
        case .undisclosed: buffer.write(code: 0)
        case .absent: buffer.write(code: 1)
        case .made(let seconds): buffer.write(code: 2, Int64(seconds))
        }
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        switch try reader.read(UInt8.self) {
        case 0: self = .undisclosed
        case 1: self = .absent
        case 2: self = .made(secondsSince1970: Int(try reader.read(Int64.self)))
        default: throw FrameError("unknown state of the recovery key")
        }
    }
}

extension LockState: WireValue {
    package func encode(to buffer: FrameBuffer) {
        switch self {
        case .beforeFirstUnlock: buffer.write(code: 0)
        case .locked: buffer.write(code: 1)
        case .unlocked: buffer.write(code: 2)
        }
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        switch try reader.read(UInt8.self) {
        case 0: self = .beforeFirstUnlock
        case 1: self = .locked
        case 2: self = .unlocked
        default: throw FrameError("unknown lock state")
        }
    }
}

extension LockEvent: WireValue {
    package func encode(to buffer: FrameBuffer) { buffer.append(rawValue) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self = try reader.coded("change of the lock", LockEvent.init(rawValue:))
    }
}

extension IntegrityReport: WireValue {
    package func encode(to buffer: FrameBuffer) {
        buffer.write(validItems, lockedItems)
        buffer.write(list: problems.prefix(WireLimits.reports))
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self.init(
            validItems: try reader.read(), lockedItems: try reader.read(),
            problems: try reader.list(limit: WireLimits.reports))
    }
}

extension PresenceAvailability: WireValue {
    package func encode(to buffer: FrameBuffer) {
        buffer.write(biometryKind.rawValue, biometryFailure, biometryState, isPasscodeSet, passcodeFailure)
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self.init(
            biometryKind: try reader.coded("kind of biometry", BiometryKind.init(rawValue:)),
            biometryFailure: try reader.read(), biometryState: try reader.read(), isPasscodeSet: try reader.read(),
            passcodeFailure: try reader.read())
    }
}

extension PresenceProofs: WireValue {
    package func encode(to buffer: FrameBuffer) { buffer.append(rawValue) }
    package init(from reader: inout FrameReader) throws(FrameError) { self.init(rawValue: try reader.read()) }
}

extension UnlockFindings: WireValue {
    package func encode(to buffer: FrameBuffer) { buffer.append(rawValue) }
    package init(from reader: inout FrameReader) throws(FrameError) { self.init(rawValue: try reader.read()) }
}

/// A question on its way to a client.
package struct SentQuestion: WireValue, Equatable {
    package var question: PasscodeQuestion
    /// How long the answer is waited for.
    package var seconds: UInt32

    package init(_ question: PasscodeQuestion, seconds: UInt32) {
        self.question = question
        self.seconds = seconds
    }

    package func encode(to buffer: FrameBuffer) {
        buffer.write(question.purpose.rawValue, seconds, question.reason, question.complaint)
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        let purpose = try reader.coded("question", PasscodeQuestion.Purpose.init(rawValue:))
        seconds = try reader.read()
        question = PasscodeQuestion(purpose: purpose, reason: try reader.read(), complaint: try reader.read())
    }
}

extension PasscodeAnswer: WireValue {
    package func encode(to buffer: FrameBuffer) {
        switch self {
        case .passcode(let passcode): buffer.write(code: 1, passcode)
        case .canceled: buffer.write(code: 2)
        case .timedOut: buffer.write(code: 3)
        case .unavailable(let remedy): buffer.write(code: 4, remedy)
        }
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        switch try reader.read(UInt8.self) {
        case 1: self = .passcode(try reader.read())
        case 2: self = .canceled
        case 3: self = .timedOut
        case 4: self = .unavailable(remedy: try reader.read())
        default: throw FrameError("unknown answer")
        }
    }
}
