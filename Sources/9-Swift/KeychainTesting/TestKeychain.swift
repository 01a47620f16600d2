import Access
import Bytes
import Enclave
import Foundation
import Keybag
import KeychainModel
import ProcessVault
import SecureMemory
import Synchronization
import Vault
import VaultInterface

/// A keychain in memory for one test, with the whole world around it in the test's hands.
///
/// Code that runs inside ``run(_:)`` sees this keychain and nothing else, whether it uses the
/// `Keychain` API or calls `SecItemAdd` and its siblings itself, and tests that run in parallel do not
/// see each other's items:
///
///     let world = try TestKeychain()
///     try await world.run {
///         try await signIn("alice", password: "…")
///         world.lock()
///         #expect(throws: SignInError.locked) { try resume() }
///     }
///
/// The keychain is inherited by structured child tasks and by `Task { }`. Code that leaves its task, on
/// a thread or a Dispatch queue of its own or in `Task.detached`, is reached with
/// ``replaceProcessKeychain()``.
///
/// Nothing is written to disk and nobody is asked anything: authentication ends as ``authentication``
/// says, without waiting.
public final class TestKeychain: Sendable {
    /// The lock state of the world's device.
    public enum LockState: Sendable, Hashable, CaseIterable {
        /// Started and not unlocked since.
        case beforeFirstUnlock
        /// Unlocked once since the start, locked now.
        case locked
        case unlocked
    }

    private struct Device {
        var vault: EmbeddedVault
        /// What programs use in the place of the vault itself.
        var served: ServedVault?
        /// Where the vault is; nil for one in memory.
        var folder: String?
    }

    private let device: Mutex<Device>
    private let surroundings: VaultSurroundings
    private let currentClient: Mutex<TestClient>
    let clock: TestClock
    let authenticator: ScriptedAuthenticator

    /// An empty keychain on an unlocked device.
    ///
    /// - Parameters:
    ///   - client: Who uses the keychain; see ``client``.
    ///   - isPasscodeSet: Whether the device has a passcode; see ``setPasscode(present:)``.
    /// - Throws: ``TestKeychainError`` when there is no memory for its keys.
    public convenience init(
        client: TestClient = TestClient(), isPasscodeSet: Bool = true
    ) throws {
        try self.init(client: client, isPasscodeSet: isPasscodeSet, folder: nil)
    }

    /// - Parameters:
    ///   - folder: Where to keep the items; nil for memory.
    ///   - isServed: Whether the vault is behind a server.
    ///   - enclave: What the keys of a vault in memory hang on; nil for one in software.
    package init(
        client: TestClient = TestClient(), isPasscodeSet: Bool = true, folder: String?, isServed: Bool = false,
        enclave: (any Enclave)? = nil
    ) throws {
        let clock = TestClock()
        let authenticator = ScriptedAuthenticator()
        // A test has no reason to pay for what slows down an attacker.
        let surroundings = VaultSurroundings(
            authenticator: authenticator, now: { clock.now }, passwordCost: Argon2id.Cost(memoryKiB: 8, passes: 1))
        let vault: EmbeddedVault
        do {
            if let folder {
                vault = try EmbeddedVault.open(at: folder, surroundings: surroundings)
            } else {
                let enclave = try enclave ?? SoftwareEnclave()
                let keys = try ClassKeys(Keybag.generate(in: enclave), in: enclave)
                vault = try EmbeddedVault.inMemory(keys: keys, surroundings: surroundings)
            }
            if isPasscodeSet { try vault.setPasscodeClass(present: true) }
            let served = isServed ? try ServedVault(vault) : nil
            device = Mutex(Device(vault: vault, served: served, folder: folder))
        } catch {
            throw TestKeychainError(reason: "no test keychain: \(error)")
        }
        authenticator.isPasscodeSet = isPasscodeSet
        currentClient = Mutex(client)
        self.clock = clock
        self.authenticator = authenticator
        self.surroundings = surroundings
    }

    private var vault: EmbeddedVault { device.withLock { $0.vault } }

    // MARK: Who calls

    /// The program that calls, and the access groups it holds. Setting it switches to another program
    /// on the same device: it sees the items of the groups it holds, and no others.
    public var client: TestClient {
        get { currentClient.withLock { $0 } }
        set { currentClient.withLock { $0 = newValue } }
    }

    // MARK: The device

    /// Whether the device is locked.
    public var lockState: LockState {
        switch vault.lockState {
        case .beforeFirstUnlock: .beforeFirstUnlock
        case .locked: .locked
        case .unlocked: .unlocked
        }
    }

    /// Locks the device: items that are accessible 'when unlocked' become unavailable.
    public func lock() {
        vault.enter(vault.lockState == .beforeFirstUnlock ? .beforeFirstUnlock : .locked)
    }

    /// Unlocks the device.
    public func unlock() { vault.enter(.unlocked) }

    /// Starts the device anew: until ``unlock()`` only items that are accessible 'always' are available.
    public func reboot() { vault.enter(.beforeFirstUnlock) }

    /// Whether the device has a passcode.
    public var isPasscodeSet: Bool { vault.hasPasscodeClass }

    /// Sets the device's passcode or takes it away. Without one, items that are accessible 'when a
    /// passcode is set' cannot be added, and those that exist are lost for good.
    ///
    /// - Throws: ``TestKeychainError`` when there is no memory for keys.
    public func setPasscode(present: Bool) throws {
        do {
            try vault.setPasscodeClass(present: present)
            authenticator.isPasscodeSet = present
        } catch {
            throw TestKeychainError(reason: "cannot change the passcode: \(error)")
        }
    }

    // MARK: Backups

    /// A backup of all items, with the password that opens it on another device; without one, only the same device
    /// can restore it.
    package struct Backup: Sendable {
        fileprivate let password: SecretBytes?
        fileprivate let portable: Data
        fileprivate let local: Data
    }

    package func makeBackup(isEncrypted: Bool) throws -> Backup {
        var portable = Data()
        var password: SecretBytes?
        if isEncrypted {
            let stretched = try [UInt8].random(count: 32).withUnsafeBytes { try SecretBytes(copying: $0) }
            let seal = BackupSeal.password(
                stretched: stretched, salt: .random(count: BackupSeal.saltSize),
                cost: Argon2Cost(memoryKiB: 8, passes: 1))
            _ = try vault.perform(MakeBackup(seal), as: Self.owner) { portable += $0 }
            password = stretched
        }
        var local = Data()
        _ = try vault.perform(MakeBackup(.thisVault), as: Self.owner) { local += $0 }
        return Backup(password: password, portable: portable, local: local)
    }

    /// Restores a backup: into this device, or into a new one that takes its place.
    package func restore(_ backup: Backup, onSameDevice: Bool) throws {
        guard onSameDevice else { return try moveToNewDevice(with: backup) }
        _ = try vault.restore({ try BackupReader(Self.input(backup.local)) }, as: Self.owner)
    }

    private func moveToNewDevice(with backup: Backup) throws {
        let (former, isServed) = device.withLock { ($0, $0.served != nil) }
        let folder = former.folder.map { $0 + ".next" }
        let next: EmbeddedVault
        if let password = backup.password {
            let key = try RecoveryKey(stretched: password)
            let reader = try BackupReader(Self.input(backup.portable))
            if let folder {
                _ = try EmbeddedVault.restore(reader, with: key, to: folder, in: .software)
                next = try EmbeddedVault.open(at: folder, surroundings: surroundings)
            } else {
                next = try EmbeddedVault.inMemory(restoring: reader, with: key, surroundings: surroundings)
            }
        } else if let folder {
            next = try EmbeddedVault.open(at: folder, surroundings: surroundings)
        } else {
            let enclave = try SoftwareEnclave()
            next = try EmbeddedVault.inMemory(
                keys: ClassKeys(Keybag.generate(in: enclave), in: enclave), surroundings: surroundings)
        }
        if former.vault.hasPasscodeClass { try next.setPasscodeClass(present: true) }
        let served = isServed ? try ServedVault(next) : nil
        device.withLock { $0 = Device(vault: next, served: served, folder: folder) }
        former.vault.close()
        if let folder = former.folder { try? FileManager.default.removeItem(atPath: folder) }
    }

    /// Where the vault is; nil for one in memory.
    package var folder: String? { device.withLock { $0.folder } }

    private static let owner = Client(identifier: "backup", accessGroups: [Client.everyGroup])

    private static func input(_ bytes: Data) -> BackupInput {
        var rest = bytes[...]
        return { count in
            defer { rest = rest.dropFirst(count) }
            return Data(rest.prefix(count))
        }
    }

    // MARK: The person

    /// How every authentication ends from now on; ``TestAuthentication/succeeds`` at first.
    public var authentication: TestAuthentication {
        get { authenticator.script }
        set { authenticator.script = newValue }
    }

    /// What the device knows about fingers and faces; ``TestBiometry/enrolled`` at first.
    public var biometry: TestBiometry {
        get { authenticator.biometry }
        set { authenticator.biometry = newValue }
    }

    /// Enrols another finger or face: items with `biometryCurrentSet` that exist become unusable, and the domain
    /// state of `LAContext` changes.
    public func changeBiometry() { authenticator.changeBiometry() }

    /// The prompts a person would have seen so far, oldest first; nil stands for a prompt without words
    /// of the caller.
    public var prompts: [String?] { authenticator.prompts }

    // MARK: The time

    /// The keychain's time, which items get as their dates. It is the system's time until a test sets
    /// it; from then on it stands still until it is set or advanced.
    public var time: Date {
        get { clock.now }
        set { clock.freeze(at: newValue) }
    }

    /// Moves the keychain's time by `duration`, without waiting.
    public func advanceTime(by duration: Duration) { clock.advance(by: duration / .seconds(1)) }
}

extension TestKeychain: VaultSessionProvider {
    package var session: VaultSession {
        let client = client
        let device = device.withLock { $0 }
        return VaultSession(
            vault: device.served?.remote ?? device.vault,
            client: Client(identifier: client.name, accessGroups: client.accessGroups))
    }
}
