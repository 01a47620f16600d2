import Access
import LockSignals
import Logging
import ServiceLifecycle
import Vault
import VaultInterface

/// Locks the vault when the session is locked, the machine sleeps, or the last session ends.
struct LockSignalUnit: Service {
    let vault: EmbeddedVault
    let signals: LockSignals
    /// How long the vault stays unlocked after the session is locked: the person may unlock the desktop at once.
    let grace: Duration
    let logger: Logger
    /// Whether the vault locks with the session and before sleep.
    var isHeeded: @Sendable () -> Bool = { true }

    func run() async throws {
        for await signal in signals.signals().cancelOnGracefulShutdown() {
            switch signal {
            case .lock: lock(after: grace, because: "session locked")
            case .sleep:
                lock(after: .zero, because: "going to sleep")
                signals.readyToSleep()
            case .sessionEnded(left: 0): lock(after: .zero, because: "last session ended")
            case .sessionEnded, .unlock, .wake: break
            }
        }
    }

    private func lock(after grace: Duration, because reason: String) {
        guard isHeeded() else { return }
        do throws(VaultError) {
            try vault.perform(LockVault(after: grace), as: Self.client)
            logger.notice("locking", metadata: ["reason": "\(reason)", "after": "\(grace)"])
        } catch {
            // Without a passcode there is nothing to lock.
            guard error != .passcodeNotSet else { return }
            logger.error("not locked", metadata: ["reason": "\(error)"])
        }
    }

    /// The daemon itself, which may do anything.
    static let client = Client(identifier: "keychaind", accessGroups: [Client.everyGroup])
}
