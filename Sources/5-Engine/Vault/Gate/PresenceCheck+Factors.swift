import Access
import Bytes
import Crypto
import Dispatch
import FoundationEssentials
import KeychainModel
import Sealing
import SecureMemory
import VaultInterface

/// What a value is sealed under beside the class key.
struct SealingFactors {
    var header: SealHeader
    var wrappingKey: SymmetricKey
}

/// What is mixed into the wrap of an item's key: the application password and the enrolment.
extension PresenceCheck {
    /// The most passwords that one operation stretches.
    private static let mostPasswordKeys = 256

    // MARK: Opening

    /// The key that opens a seal with this header.
    func wrappingKey(for header: SealHeader, classKey: SymmetricKey) throws -> SymmetricKey {
        var passwordKey: SymmetricKey?
        if let password = header.password {
            guard options.applicationPassword != nil else { throw VaultError.itemPasswordMissing }
            guard let stretched = passwordKeys[password] else { throw Need.passwordKey(password) }
            passwordKey = stretched
        }
        let state = header.enrolment?.isMixedIn == true ? try knownEnrolment() : nil
        guard
            let key = ItemWrap.key(for: header, classKey: classKey, passwordKey: passwordKey, enrolment: state)
        else { throw VaultError.enrolmentChanged }
        return key
    }

    /// Whether the fingers and faces are still those that an item was stored under.
    func matchesEnrolment(_ bound: SealHeader.Enrolment, classKey: SymmetricKey) throws -> Bool {
        guard let state = try knownEnrolment() else { return false }
        return isEqualInConstantTime(ItemWrap.enrolmentCheck(of: state, classKey: classKey), bound.check)
    }

    private func knownEnrolment() throws -> Data? {
        guard let enrolment else { throw Need.enrolment }
        return enrolment
    }

    // MARK: Sealing

    /// What something with this access control is to be sealed under beside its class key.
    ///
    /// - Parameter old: The header of the item that it takes the place of, if both have the same access
    ///   control: an item stays bound to the password and the enrolment that it was stored with.
    func factors(
        for accessControl: AccessControl, hasValue: Bool, insteadOf old: SealHeader?, classKey: SymmetricKey
    ) throws -> SealingFactors {
        let flags = accessControl.flags ?? []
        var header = old ?? SealHeader(password: nil, enrolment: nil, hasValue: true)
        header.hasValue = hasValue
        if flags.contains(.applicationPassword), header.password == nil {
            let fresh = try freshPasswordKey()
            header.password = fresh.password
            passwordKeys[fresh.password] = fresh.key
        }
        if flags.contains(.biometryCurrentSet), header.enrolment == nil {
            guard let state = try knownEnrolment() else {
                throw VaultError.presence(enrolmentFailure ?? .biometryNotEnrolled)
            }
            header.enrolment = SealHeader.Enrolment(
                check: ItemWrap.enrolmentCheck(of: state, classKey: classKey),
                isMixedIn: flags.diesWithEnrolment)
        }
        return SealingFactors(header: header, wrappingKey: try wrappingKey(for: header, classKey: classKey))
    }

    private func freshPasswordKey() throws -> (password: SealHeader.Password, key: SymmetricKey) {
        guard options.applicationPassword != nil else { throw VaultError.itemPasswordMissing }
        guard freshKeysUsed < freshPasswordKeys.count else { throw Need.freshPasswordKey }
        defer { freshKeysUsed += 1 }
        return freshPasswordKeys[freshKeysUsed]
    }

    // MARK: Stretching

    /// Stretches the password for one more item to be sealed.
    func stretchFreshPassword(_ cost: Argon2id.Cost) throws(VaultError) {
        guard freshPasswordKeys.count < Self.mostPasswordKeys else { throw Self.tooManyPasswordKeys }
        let salt: Data
        do {
            salt = try LockedBytes.random(count: Argon2id.saltSize).withUnsafeBytes { Data($0) }
        } catch {
            throw .memoryUnavailable
        }
        let password = SealHeader.Password(memoryKiB: cost.memoryKiB, passes: cost.passes, salt: salt)
        freshPasswordKeys.append((password, try stretch(password)))
    }

    /// Stretches the password in the way of an item.
    func stretchPassword(_ password: SealHeader.Password) throws(VaultError) {
        guard passwordKeys.count < Self.mostPasswordKeys else { throw Self.tooManyPasswordKeys }
        passwordKeys[password] = try stretch(password)
    }

    private func stretch(_ password: SealHeader.Password) throws(VaultError) -> SymmetricKey {
        guard let secret = options.applicationPassword else { throw VaultError.itemPasswordMissing }
        let cost = Argon2id.Cost(memoryKiB: password.memoryKiB, passes: password.passes)
        guard cost.isSensible else {
            throw .corruptVault(reason: "an item asks for an application password at a cost that cannot be")
        }
        Self.stretching.wait()
        defer { Self.stretching.signal() }
        do {
            return try secret.withUnsafeBytes {
                try Argon2id.derive(from: $0, salt: Array(password.salt), cost: cost)
            }.withUnsafeBytes { SymmetricKey(data: $0) }
        } catch {
            throw .unusableVault(
                reason: "checking the application password takes \(cost.memoryKiB / 1024) MiB of memory, which is not "
                    + "to be had; free some")
        }
    }

    /// As many passwords are stretched at a time in a process, so that many clients together do not take the memory
    /// of all.
    private static let stretching = DispatchSemaphore(value: 2)

    private static let tooManyPasswordKeys = VaultError.invalidRequest(
        reason: "more than \(mostPasswordKeys) items with an application password at once; name fewer")
}

extension Argon2id.Cost {
    /// 64 MiB and three passes, the "moderate" setting of many uses: well under half a second on a small machine,
    /// because every read of an item pays it, and memory that a container has.
    package static let applicationPassword = Argon2id.Cost(memoryKiB: 64 << 10, passes: 3)
}

extension AccessControl {
    /// Whether more than the class key opens the item's value.
    var isSealedFurther: Bool { flags?.isDisjoint(with: [.applicationPassword, .biometryCurrentSet]) == false }
}

extension AccessControl.Flags {
    /// Whether an item with these flags cannot be opened once the enrolment has changed. It can if another
    /// constraint will do as well.
    var diesWithEnrolment: Bool {
        contains(.biometryCurrentSet) && (!contains(.or) || presenceAlternatives.count == 1)
    }
}
