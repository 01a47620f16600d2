import ArgumentParser
import CommandKit

/// The commands about the circle.
package enum CircleCommands: CommandModule {
    package static func command(named name: String) -> (any DocumentedCommand.Type)? {
        switch name {
        case "circle": CircleCommand.self
        default: nil
        }
    }
}

struct CircleCommand: DocumentedCommand {
    static let summary = "Have the same synchronizable items in the vaults of several machines."
    static let details = """
        The vaults of a circle trust each other. What one of them stores as synchronizable in an access group of the \
        circle (`keychain set --synchronizable`) appears in all others that got the group. It travels through a \
        folder that something else brings to each machine: Syncthing, git, rsync, NFS, or a stick; or through etcd. Whoever \
        has the folder or etcd sees how many items there are and when they change, and neither their names nor their \
        secrets.

        With a folder, each command also has items travel, and `keychain circle sync --watch` does so all the time. With \
        etcd, the program `keychain-sync` does.
        """
    static let examples = [
        Example("On the first machine", "keychain circle create --folder ~/Sync"),
        Example("Invite the second one", "keychain circle invite"),
        Example("There, with the words of the invitation", "keychain circle join --folder ~/Sync"),
        Example("On the first machine, look at who asks, and let it in", "keychain circle approve"),
    ]
    static let configuration = documented(
        "circle",
        subcommands: [
            CreateCircleCommand.self, InviteCommand.self, JoinCommand.self, ApproveCommand.self, RefuseCommand.self,
            EndInvitationCommand.self, ListCircleCommand.self, CircleStatusCommand.self, CircleDoctorCommand.self,
            ConflictsCommand.self, AddGroupCommand.self, SyncCommand.self,
            MoveCircleCommand.self,
            RemoveMemberCommand.self, LeaveCircleCommand.self, CircleRecoveryKeyCommand.self,
            RecoverCircleCommand.self,
        ])
}
