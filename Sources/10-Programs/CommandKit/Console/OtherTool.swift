import Access
import ProcessVault
import StatusCodes
import VaultInterface

/// This program, where a daemon serves the vault and does not take it for the tool of the vault's owner.
///
/// It then sees only what the daemon grants to it, and what it does not see must not look lost.
package struct OtherTool {
    package let caller: CallerDescription

    /// Nil without a daemon, and for the owner's tool.
    package static var served: OtherTool? {
        guard let caller = try? ProcessVault.servedCaller(), !caller.accessGroups.contains(Client.everyGroup) else {
            return nil
        }
        return OtherTool(caller: caller)
    }

    package var name: String { "'\(caller.identifier.escapedForTerminal)'" }

    /// What holds, and what to do.
    package var note: String {
        // The daemon compares files: after an installation another file has the owner's tool's name. Programs of other
        // users are told apart by rules alone.
        let remedy =
            caller.identifier.hasPrefix("uid:") ? "" : "restart keychaind if keychain was installed anew, or "
        return "the daemon takes this program for \(name), not for its owner's tool, and shows it only what that may "
            + "see: \(remedy)grant groups and rights in the entitlements file"
    }

    /// The group for a new item of this program, if it is not the owner's tool, which has a group of its own, and if
    /// the environment names none.
    ///
    /// - Throws: ``Failure`` for an unknown copy of the owner's tool, whose group nobody looks at.
    package static var groupForNewItem: String? {
        get throws {
            try refuseUnknownCopy()
            return ProcessVault.environmentGroups().isEmpty ? served?.caller.accessGroups.first : nil
        }
    }

    /// Whether the daemon knows nothing of this program but its file: it is neither the owner's tool nor a program that
    /// a rule, a unit or a sandbox names. So it is another copy of the owner's tool.
    package var isUnknownCopy: Bool {
        caller.identifier.hasPrefix("/") && caller.accessGroups.count <= 1 && !caller.rights.contains(.list)
    }

    /// Refuses what an unknown copy of the owner's tool would do in a group of its own, where neither the owner nor the
    /// owner's programs look.
    ///
    /// - Parameters:
    ///   - group: The group that the command line names, which is then meant.
    ///   - what: What did not happen, as in "nothing was stored".
    package static func refuseUnknownCopy(_ group: String? = nil, _ what: String = "nothing was stored") throws {
        guard group == nil, ProcessVault.environmentGroups().isEmpty, let tool = served, tool.isUnknownCopy else {
            return
        }
        throw Failure(status: errSecMissingEntitlement, "\(what): \(tool.note)")
    }

    /// Whether the daemon lets this program list a group that it names.
    package static func mayList(_ group: String?) -> Bool {
        guard let group, let tool = served else { return false }
        return tool.caller.listableGroups.contains { $0.isSameGroup(as: group) }
    }

    /// Fails if the daemon does not grant the right, so that nobody is asked for a passcode that cannot help.
    package static func requireServed(_ right: CallerRights, named name: String) throws {
        guard let tool = served, !tool.caller.rights.isSuperset(of: right) else { return }
        throw VaultError.accessDenied(.rightNotHeld(right: name, client: tool.caller.identifier))
    }
}

extension Failure {
    /// Says of what was not found that the daemon may only not show it to this copy of the tool.
    package mutating func noteOtherTool() {
        guard status == errSecItemNotFound, ProcessVault.environmentGroups().isEmpty, let tool = OtherTool.served,
            tool.isUnknownCopy, !message.contains(tool.note)
        else { return }
        message += "; \(tool.note)"
    }
}
