import Bytes
import KeychainModel
import Logging
import PrivateFiles
import ServiceLifecycle
import Synchronization
import Vault
import VaultInterface

/// Ends the daemon of a keychain that `security` unlocked, as soon as the keychain is locked: by `lock-keychain`, by
/// the session, or after the time of its settings without a request.
struct KeychainEnd: Service {
    let vault: EmbeddedVault
    let folder: PrivateFolder
    let activity: RequestActivity
    let logger: Logger

    /// How long the daemon waits for the first unlocking.
    private static let patience = Duration.seconds(60)
    /// How often the settings are read again, which another process may have changed.
    private static let interval = Duration.seconds(1)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await untilLocked() }
                group.addTask { await untilAsked() }
                group.addTask { await untilIdle() }
                await group.next()
                group.cancelAll()
            }
        }
    }

    private func untilLocked() async {
        var wasUnlocked = false
        for await event in vault.lockEvents() {
            switch event {
            case .unlocked: wasUnlocked = true
            case .locked where wasUnlocked: return
            default: break
            }
        }
    }

    /// A keychain that is locked already tells of no lock.
    private func untilAsked() async {
        for await _ in activity.locks { return }
    }

    private func untilIdle() async {
        let start = ContinuousClock.now
        // A keychain that was deleted, or whose password was taken away, needs no daemon.
        while !Task.isCancelled, folder.contains(KeychainSettings.file), vault.hasPasscodeClass {
            if vault.lockState != .unlocked {
                guard ContinuousClock.now - start < Self.patience else { return }
            } else if let timeout = ((try? KeychainSettings(in: folder)) ?? KeychainSettings()).timeout,
                activity.idle >= .seconds(timeout)
            {
                logger.notice("locking", metadata: ["reason": "no request for \(timeout) seconds"])
                _ = try? vault.perform(LockVault(after: .zero), as: LockSignalUnit.client)
                return
            }
            try? await Task.sleep(for: Self.interval)
        }
    }
}

/// When the last request came, and requests to lock.
final class RequestActivity: Sendable {
    let locks: AsyncStream<Void>
    private let lockRequests: AsyncStream<Void>.Continuation
    private let last = Mutex(ContinuousClock.now)

    init() { (locks, lockRequests) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    func note(_ operation: String) {
        last.withLock { $0 = .now }
        if operation == LockVault.name { lockRequests.yield() }
    }

    var idle: Duration { last.withLock { ContinuousClock.now - $0 } }
}
