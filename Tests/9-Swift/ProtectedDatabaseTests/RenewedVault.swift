import Access
import Foundation
import KeychainTesting
import ProcessVault
import VaultInterface

/// A test's vault as after a renewal of its class keys: it wraps the keys of files in another way than before, and
/// opens both.
final class RenewedVault: Vault, VaultSessionProvider {
    private let base: VaultSession
    private static let mark: UInt8 = 0xA5

    init(_ keychain: TestKeychain) { base = keychain.session }

    var session: VaultSession { VaultSession(vault: self, client: base.client) }

    func perform<Operation: VaultOperation>(
        _ operation: Operation, as client: Client, send: Sink<Operation.Part>
    ) throws(VaultError) -> Operation.Reply {
        if var open = operation as? OpenFileKey, open.wrapped.last == Self.mark {
            open.wrapped.removeLast()
            if let same = open as? Operation { return try base.vault.perform(same, as: client, send: send) }
        }
        if var rewrap = operation as? RewrapFileKey {
            if rewrap.wrapped.last == Self.mark { rewrap.wrapped.removeLast() }
            let wrapped = try base.vault.perform(rewrap, as: client)
            if let reply = wrapped + [Self.mark] as? Operation.Reply { return reply }
        }
        return try base.vault.perform(operation, as: client, send: send)
    }

    func changes(to audience: @escaping @Sendable () -> ChangeAudience) -> AsyncStream<VaultChange> {
        base.vault.changes(to: audience)
    }
    func lockEvents() -> AsyncStream<LockEvent> { base.vault.lockEvents() }
    func observeLocking(_ tell: @escaping @Sendable () -> Void) -> LockObservation { base.vault.observeLocking(tell) }
}
