import Access
import Connections
import SystemBus
import VaultInterface
import VaultService

/// The Secret Service of a daemon for the programs that connect to a socket which they take for their session bus.
package enum SecretGuests {
    /// The access group that programs share on a bus.
    package static let sharedGroup = "secret-service"

    /// Makes what answers a program. It sees the items of the access groups that it may list, and no others.
    package static func answer(
        _ vault: GuestVault, _ connection: GuestConnection, _ hub: SecretHub, _ fronts: SecretFronts
    ) -> (any GuestProtocol)? {
        let conversation: SecretFronts.Conversation
        do throws(FrontError) {
            conversation = try fronts.open(connection.descriptor, for: vault.program)
        } catch {
            connection.reject("\(error)")
            return nil
        }
        guard conversation.takeSocket(connection.exchange(for:)) else { return nil }
        let limits = GuestLimits(vault: vault, connection: connection)
        let access = SecretAccess(
            session: { () throws(VaultError) in
                let grant = try vault.grant()
                return VaultSession(vault: vault, client: grant.client(claiming: groups(of: grant)))
            },
            name: (try? vault.grant().identifier) ?? "")
        return SecretConnection(
            connection.descriptor, conversation, SecretClient(access, hub, Mailbox(connection.bell)), hub, limits)
    }

    /// A program has its share of the daemon.
    private struct GuestLimits: SecretConnection.Limits {
        let vault: GuestVault
        /// It owns what has this.
        unowned let connection: GuestConnection

        func admitCall() -> Duration { vault.admitCall() }
        func call(_ body: () -> Void) -> Duration { vault.call(body) }
        func withPlace(_ body: () -> Void) { vault.withPlace(body) }
        func admits(_ bytes: Int) -> Bool { connection.admits(bytes) }
        var needOfRoom: ConnectionNeed { connection.needOfRoom }
        func giveRoomBack() { connection.giveRoomBack() }
    }

    /// Returns the groups that a program may list, the one for new items in front: the shared one if it has it, else
    /// its own.
    private static func groups(of grant: CallerGrant) -> [String] {
        let groups = grant.listable.filter { $0 != Client.everyGroup && $0 != Client.tokenGroup }
        let isOwn = { (group: String) in group.isSameGroup(as: grant.identifier) }
        let first =
            groups.first { $0.isSameGroup(as: sharedGroup) } ?? groups.first(where: isOwn) ?? groups.first
            ?? (grant.listable.contains(Client.everyGroup) ? sharedGroup : nil)
        return (first.map { [$0] } ?? []) + groups.filter { $0 != first }
    }
}
