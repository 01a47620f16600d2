import Access
import Bytes
import FoundationEssentials
import Items
import Keybag
import KeychainModel
import PrivateFiles
import SecureMemory
import Synchronization
import VaultInterface

/// Setting, changing and removing the passcode. Each rewraps the class keys and changes no item, so the time does not
/// depend on the number of items.
extension EmbeddedVault {
    package func perform(_ operation: SetPasscode, as client: Client) throws(VaultError) {
        try gatedForPasscode(as: client, recordedAs: .passcodeSet) {
            try checkNew(operation.passcode)
            // Another program may have set one: its items must stay, and its count of wrong passcodes too.
            try takeOverChangedKeybag()
            guard currentKeybag.keys.keybag.passcode == nil else { throw VaultError.passcodeIsSet }
            // A removal that was interrupted may have left them. Their key is gone.
            try deleteItemsOfPasscodeClass()
            let (protection, key) = try PasscodeProtection(operation.options).guarding(
                operation.passcode, in: currentKeybag.keys.enclave)
            // Before the passcode is set, so that tries are counted from the first moment.
            try passcodeGuard.forget(currentKeybag.keys)
            try replacePasscode(from: nil, to: key, protection)
        }
    }

    package func perform(_ operation: ChangePasscode, as client: Client) throws(VaultError) {
        try gatedForPasscode(as: client, recordedAs: .passcodeChanged) {
            try checkNew(operation.next)
            let present = try checked(operation.passcode)
            let (protection, nextKey) = try PasscodeProtection(operation.options).guarding(
                operation.next, in: currentKeybag.keys.enclave)
            try replacePasscode(from: present, to: nextKey, protection)
        }
    }

    package func perform(_ operation: RemovePasscode, as client: Client) throws(VaultError) {
        try gatedForPasscode(as: client, recordedAs: .passcodeRemoved) {
            let present = try checked(operation.passcode)
            // First the key, then the rows: nothing can open them from here on, and nothing finds them.
            try replacePasscode(from: present, to: nil, nil)
            try deleteItemsOfPasscodeClass()
        }
    }

    private func gatedForPasscode(
        as client: Client, recordedAs event: AuditEvent.Kind, _ body: () throws -> Void
    ) throws(VaultError) {
        try gated(AccessRequest(.passcode, isAboutWholeVault: true), as: client, recordedAs: event) { _ in try body() }
    }

    /// Replaces the keybag by one with another passcode, durably, and continues with it.
    ///
    /// - Throws: ``VaultError/busy`` when another program changed the passcode at the same time.
    private func replacePasscode(
        from present: CheckedPasscode?, to nextKey: LockedBytes?, _ protection: PasscodeProtection?
    ) throws {
        guard let folder else {
            let keys = currentKeybag.keys
            let next = try keys.keybag.rewrapped(from: present?.key, to: nextKey, protection, in: keys.enclave)
            try keys.adopt(next, with: nextKey)
            return tellLockState()
        }
        try checkStoreIsInPlace()
        let opened = try folder.folder.withLock {
            let current = try folder.openKeybag()
            guard current.identifier == currentKeybag.identifier, current.keys.keybag.passcode == present?.protection
            else {
                throw VaultError.busy
            }
            let next = try current.keys.keybag.rewrapped(
                from: present?.key, to: nextKey, protection, in: current.keys.enclave)
            return try folder.replaceKeybag(with: next, in: current.keys.enclave)
        }
        try opened.keys.adopt(opened.keys.keybag, with: nextKey)
        pendingLock.withLock { $0.callOff() }
        replaceKeybag(opened)
        keepFileAgreementKey()
    }

    private func checkNew(_ passcode: SecretBytes) throws(VaultError) {
        guard !passcode.isEmpty else { throw .invalidRequest(reason: "a passcode has at least one character") }
        guard passcode.count <= Self.longestPasscode else {
            throw .invalidRequest(reason: "a passcode has at most \(Self.longestPasscode) bytes")
        }
    }

    /// More than a person types, and less than a file that is given by mistake.
    static let longestPasscode = 1024
}

extension PasscodeProtection {
    /// Makes a protection with a fresh salt and the chosen cost.
    fileprivate init(_ options: PasscodeOptions) throws {
        let cost: Argon2id.Cost
        switch options.cost {
        case .interactive: cost = try PasscodeCost.calibrated()
        case .explicit(let memoryMiB, let passes):
            cost = Argon2id.Cost(
                memoryKiB: UInt32(clamping: memoryMiB) &* 1024, passes: UInt32(clamping: passes))
            guard (1...4096).contains(memoryMiB), cost.isSensible else {
                throw VaultError.invalidRequest(reason: "a passcode costs 1 to 4096 MiB and 1 to 64 passes")
            }
        }
        var eraseAfter: UInt8?
        if let limit = options.eraseAfter {
            guard (1...255).contains(limit) else {
                throw VaultError.invalidRequest(reason: "the vault is erased after 1 to 255 wrong passcodes, or never")
            }
            eraseAfter = UInt8(limit)
        }
        self = .fresh(cost: cost, eraseAfter: eraseAfter)
    }
}
