import Access
import Bytes
import CLibrary

extension Entitlements {
    /// Returns the lowest quota that a rule sets for a group in bytes: its programs are the first to be refused there.
    /// Nil if no rule limits the group.
    package func quota(of group: String) -> Int? {
        rules.filter { $0.limits(group) }.compactMap(\.quota).min()
    }
}

extension Entitlements.Rule {
    /// Whether the quota of the rule is that of the group: one that the rule grants, or the own group of the programs
    /// that the rule names, which begins with the user if that is not the daemon's.
    fileprivate func limits(_ group: String) -> Bool {
        guard quota != nil else { return false }
        if groups.contains(where: { $0 == Client.everyGroup || $0.isSameGroup(as: group) }) { return true }
        var own = Substring(group)
        if group.hasPrefix("uid:") {
            let parts = group.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3, let owner = uid_t(parts[1]) else { return false }
            if let user, user != owner { return false }
            own = parts[2]
        }
        return ownNames.contains { $0.isSameGroup(as: String(own)) }
    }

    /// The names of the own groups of programs that the rule names.
    private var ownNames: [String] {
        [flatpak.map { "flatpak:" + $0 }, snap.map { "snap:" + $0 }, unit.map { "unit:" + $0 }, executable]
            .compactMap(\.self)
    }
}
