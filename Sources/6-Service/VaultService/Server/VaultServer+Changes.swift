import Access
import VaultInterface

extension VaultServer {
    /// Returns a function that says which changes `peer` learns of under the rules at the time of a change.
    func audience(of peer: Peer?) -> @Sendable () -> ChangeAudience {
        { [entitlements, owner, ownerTool] in
            guard let identity = peer?.identity,
                let grant = try? entitlements.current().entitlements.grant(to: identity, owner: owner, tool: ownerTool)
            else { return .nobody }
            return grant.audience(isOwner: identity.user == owner)
        }
    }
}

extension CallerGrant {
    /// Returns which changes of the vault a caller learns of: those in the groups that it holds. A carrier of a circle
    /// learns that something changed, whatever it is: it has to hand it on, and reads none of it.
    ///
    /// - Parameter isOwner: Whether it runs as the daemon's user. Such a program sees the times of the vault's files
    ///   anyway, and so learns of changes by other processes; others need the right to list, or every group.
    package func audience(isOwner: Bool) -> ChangeAudience {
        let holdsEvery = groups.contains(Client.everyGroup) || rights.contains(.synchronize)
        return ChangeAudience(
            groups: holdsEvery ? .every : .only(groups),
            learnsOfUnknown: isOwner || holdsEvery || rights.contains(.list))
    }
}
