import Access
import Bytes
import Keybag
import KeychainModel
import PrivateFiles
import Sealing
import SecureMemory
import VaultInterface

/// Sets, changes and removes the passcode. Each rewraps the class keys and changes no item, so the time does not
/// depend on the number of items.
struct VaultPasscode: PasscodeKeeping {
    let vault: OpenedVault
    let gate: VaultGate
    let passcodes: PasscodeCheck
    let lock: VaultLock
    let fileAgreementKey: FileAgreementKeyFile

    func set(_ operation: SetPasscode, as client: Client) throws(VaultError) {
        var flush: FileError?
        try gated(as: client, recordedAs: .passcodeSet) {
            try Self.checkNew(operation.passcode)
            // Another program may have set one: its items must stay, and its count of wrong passcodes too.
            try vault.takeOverChangedKeybag()
            guard vault.keys.keybag.passcode == nil else { throw VaultError.passcodeIsSet }
            // A removal that was interrupted may have left them. Their key is gone.
            try deleteItemsOfPasscodeClass()
            // Before the passcode is set: a vault that tells of an anchor must have one.
            let isAnchored = gate.access.anchor(isExpected: false) != .impossible
            let (protection, key) = try PasscodeProtection(operation.options, isAnchored: isAnchored).guarding(
                operation.passcode, in: vault.keys.enclave)
            // Before the passcode is set, so that tries are counted from the first moment.
            try passcodes.tries.forget(vault.keys)
            flush = try replace(nil, by: key, protection).flush
        }
        if let flush {
            throw .unflushed("the passcode is set", flush, "the vault may have none: set it again then")
        }
    }

    func change(_ operation: ChangePasscode, as client: Client) throws(VaultError) {
        var present: PasscodeProtection?
        var isAgreementKeyReplaced = false
        var flush: FileError?
        try gated(as: client, recordedAs: .passcodeChanged) {
            try Self.checkNew(operation.next)
            let checked = try passcodes.checked(operation.passcode)
            let (protection, nextKey) = try PasscodeProtection(
                operation.options, replacing: checked.protection, isAnchored: checked.protection.isAnchored
            ).guarding(operation.next, in: vault.keys.enclave)
            (isAgreementKeyReplaced, flush) = try replace(checked, by: nextKey, protection)
            present = checked.protection
        }
        if let present { lock.finish(present, isAgreementKeyReplaced: isAgreementKeyReplaced, as: client) }
        if let flush {
            throw .unflushed(
                "the new passcode is in force", flush, "the former one may be: keep both, and change it again then")
        }
    }

    func remove(_ operation: RemovePasscode, as client: Client) throws(VaultError) {
        var flush: FileError?
        try gated(as: client, recordedAs: .passcodeRemoved) {
            let present = try passcodes.checked(operation.passcode)
            // First the key, then the rows: nothing can open them from here on, and nothing finds them.
            flush = try replace(present, by: nil, nil).flush
            try deleteItemsOfPasscodeClass()
        }
        if let flush {
            throw .unflushed(
                "the passcode is removed", flush, "it may be there again: keep it, and remove it again then")
        }
    }

    /// Gives the passcode-only class a fresh key, or destroys its key and deletes every item of that class, because
    /// nothing can open their rows again.
    func setClass(present: Bool) throws(VaultError) {
        do {
            try vault.keys.setPasscodeClass(present: present)
            if !present { try deleteItemsOfPasscodeClass() }
        } catch {
            throw VaultError(error)
        }
    }

    private func gated(
        as client: Client, recordedAs event: AuditEvent.Kind, _ body: () throws -> Void
    ) throws(VaultError) {
        let request = AccessRequest(.passcode, isAboutWholeVault: true)
        try gate.run(gate.authorize(request, as: client, recordedAs: event), body)
    }

    /// - Returns: What ``FileAgreementKeyFile/update()`` does, and why the disk may not have the keybag that is in
    ///   force.
    private func replace(
        _ present: CheckedPasscode?, by nextKey: LockedBytes?, _ protection: PasscodeProtection?
    ) throws -> (isAgreementKeyReplaced: Bool, flush: FileError?) {
        let flush = try vault.keyChange.rewrap(from: present, to: nextKey, protection)
        lock.callOff()
        return (fileAgreementKey.update(), flush)
    }

    /// Deletes none if the class has a key again.
    private func deleteItemsOfPasscodeClass() throws {
        try vault.upkeep.deleteRows { row, keys in
            row.protection == .whenPasscodeSetThisDeviceOnly && !keys.hasPasscodeClass
        }
    }

    /// Refuses what cannot be a passcode.
    static func checkNew(_ passcode: SecretBytes) throws(VaultError) {
        guard !passcode.isEmpty else { throw .invalidRequest(reason: "a passcode has at least one character") }
        guard passcode.count <= Self.longest else {
            throw .invalidRequest(reason: "a passcode has at most \(Self.longest) bytes")
        }
    }

    /// More than a person types, and less than a file that is given by mistake.
    private static let longest = 1024
}

extension PasscodeProtection {
    /// Makes a protection with a fresh salt and the chosen cost.
    ///
    /// - Parameter present: That of the passcode before, of which what is not chosen stays.
    init(_ options: PasscodeOptions, replacing present: PasscodeProtection? = nil, isAnchored: Bool) throws {
        let cost: Argon2id.Cost
        switch options.cost {
        case .interactive: cost = try Self.unchosenCost(replacing: present?.cost)
        case .explicit(let memoryMiB, let passes):
            cost = Argon2id.Cost(
                memoryKiB: UInt32(clamping: memoryMiB) &* 1024, passes: UInt32(clamping: passes))
            guard (1...4096).contains(memoryMiB), cost.isSensible else {
                throw VaultError.invalidRequest(reason: "a passcode costs 1 to 4096 MiB and 1 to 64 passes")
            }
        }
        var eraseAfter = present?.eraseAfter
        if options.eraseAfter == 0, present != nil {
            eraseAfter = nil
        } else if let limit = options.eraseAfter {
            guard (1...255).contains(limit) else {
                throw VaultError.invalidRequest(reason: "the vault is erased after 1 to 255 wrong passcodes, or never")
            }
            eraseAfter = UInt8(truncatingIfNeeded: limit)
        }
        self = .fresh(cost: cost, eraseAfter: eraseAfter, isAnchored: isAnchored)
    }

    /// The cost if nobody chose one. Memory that differs from the default was chosen for the passcode before. The
    /// default was calibrated, perhaps on a slower machine, but its passes may have been chosen, too.
    private static func unchosenCost(replacing present: Argon2id.Cost?) throws(KeybagError) -> Argon2id.Cost {
        guard let present else { return try PasscodeCost.calibrated() }
        guard present.memoryKiB == PasscodeCost.defaultMemoryKiB else { return present }
        var cost = try PasscodeCost.calibrated()
        cost.passes = max(cost.passes, present.passes)
        return cost
    }
}
