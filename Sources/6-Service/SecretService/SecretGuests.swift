import Access
import SystemBus
import VaultInterface
import VaultService

/// The Secret Service of a daemon for the programs that connect to a socket which they take for their session bus.
package enum SecretGuests {
    /// The access group that programs share on a bus.
    package static let sharedGroup = "secret-service"

    /// Serves a program until it is gone. It sees the items of the access groups that it may list, and no others.
    package static func serve(_ vault: GuestVault, _ connection: GuestConnection, _ hub: SecretHub) {
        guard let peer = try? BusPeer(connection.descriptor()) else { return }
        let access = SecretAccess(
            session: { () throws(VaultError) in
                let grant = try vault.grant()
                return VaultSession(vault: vault, client: grant.client(claiming: groups(of: grant)))
            },
            name: (try? vault.grant().identifier) ?? "")
        var room: RequestRoom?
        SecretConnection(
            peer: peer, client: SecretClient(access, hub, Mailbox()), hub: hub,
            counting: { vault.call($0) }, withPlace: { vault.withPlace($0) },
            admit: { connection.admit($0, &room, of: vault) },
            waits: {
                room = nil
                connection.waitsForRequest()
            }, works: { connection.works() }
        ).run()
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
