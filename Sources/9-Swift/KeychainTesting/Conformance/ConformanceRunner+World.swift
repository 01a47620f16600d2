import Bytes
import Foundation
import KeychainServices
import StatusCodes
import VaultInterface

/// A backup that later steps name.
private final class SavedBackup {
    let backup: TestKeychain.Backup

    init(_ backup: TestKeychain.Backup) { self.backup = backup }
}

extension ConformanceRunner {
    /// Nil when `operation` is none of the simulated device's, nor a comparison.
    func performWorldOperation(
        _ operation: String, _ arguments: inout ConformanceArguments, in world: ConformanceWorld,
        _ values: ConformanceValues
    ) throws(ConformanceProblem) -> Outcome? {
        let keychain = world.keychain
        switch operation {
        case "device.lock": keychain.lock()
        case "device.unlock": keychain.unlock()
        case "device.reboot": keychain.reboot()
        case "device.setPasscode":
            let present = try arguments.takeBoolean("passcodeSet") ?? true
            try change { try keychain.setPasscode(present: present) }
        case "device.removePasscode":
            try change { try keychain.setPasscode(present: false) }
        case "device.setAuthentication":
            guard let outcome = arguments.take("auth") else { throw .malformed("an 'auth'", nil) }
            keychain.authentication = try ConformanceWorld.authentication(outcome)
        case "device.setBiometry":
            guard let biometry = arguments.take("biometry") else { throw .malformed("a 'biometry'", nil) }
            keychain.biometry = try ConformanceWorld.biometry(biometry)
        case "device.changeBiometry": keychain.changeBiometry()
        case "backup.create":
            let isEncrypted = try arguments.takeBoolean("encrypted") ?? true
            return Self.outcome { SavedBackup(try keychain.makeBackup(isEncrypted: isEncrypted)) }
        case "backup.restore":
            let name = try arguments.takeString("fromBackup")
            let isSameDevice = try arguments.takeBoolean("sameDevice") ?? false
            guard case .some(let saved as SavedBackup)? = values.saved[name] else {
                throw .malformed("a backup saved as '\(name)'", nil)
            }
            return Self.outcome {
                try keychain.restore(saved.backup, onSameDevice: isSameDevice)
                return nil
            }
        case "client.switch":
            guard let groups = arguments.take("accessGroups") else { throw .malformed("'accessGroups'", nil) }
            keychain.client.accessGroups = try ConformanceWorld.groups(groups)
        case "sleep":
            let seconds = arguments.take("seconds")
            switch seconds {
            case .integer(let seconds)?: keychain.advanceTime(by: .seconds(seconds))
            case .real(let seconds)?: keychain.advanceTime(by: Duration(clampingSeconds: seconds))
            default: throw .malformed("a number of 'seconds'", seconds)
            }
        case "const": return try compareConstant(&arguments)
        case "equal": return try compareObjects(&arguments, values)
        default: return nil
        }
        return Outcome()
    }

    /// Returns the result of `body`, or the status of its error.
    private static func outcome(_ body: () throws -> AnyObject?) -> Outcome {
        do {
            return Outcome(result: try body())
        } catch {
            return Outcome(status: Int((error as? VaultError)?.osStatus ?? errSecInternalComponent))
        }
    }

    private func change(_ body: () throws -> Void) throws(ConformanceProblem) {
        do {
            try body()
        } catch {
            throw ConformanceProblem(expected: "a change of the device", got: "\(error)")
        }
    }

    private func compareConstant(_ arguments: inout ConformanceArguments) throws(ConformanceProblem) -> Outcome {
        let name = try arguments.takeString("name")
        guard let constant = ConformanceConstant(named: name) else { throw .unknown("constant", name) }
        let expected = arguments.take("equals")
        guard constant.json == expected else {
            throw ConformanceProblem(
                expected: "\(name) = \(expected?.description ?? "nothing")", got: constant.json.description)
        }
        return Outcome(result: constant.object)
    }

    private func compareObjects(
        _ arguments: inout ConformanceArguments, _ values: ConformanceValues
    ) throws(ConformanceProblem) -> Outcome {
        var sides: [AnyObject] = []
        for name in ["a", "b"] {
            guard let json = arguments.take(name) else { throw .malformed("'\(name)'", nil) }
            sides.append(try values.object(json))
        }
        return Outcome(result: NSNumber(value: CFEqual(sides[0], sides[1])))
    }
}
