/// How many bytes of items the groups of a client may hold.
package struct GroupQuotas: Sendable, Hashable {
    private struct Grant: Sendable, Hashable {
        var group: String
        /// Nil for no limit.
        var bytes: Int?
    }

    private var grants: [Grant] = []

    package init() {}

    /// Adds what a rule grants.
    ///
    /// - Parameters:
    ///   - group: A group, or `*` for each.
    ///   - bytes: The most bytes that it may hold; nil for no limit.
    package mutating func add(_ group: String, bytes: Int?) {
        grants.append(Grant(group: group, bytes: bytes))
    }

    /// Whether there is a limit at all.
    package var isLimiting: Bool { grants.contains { $0.bytes != nil } }

    /// Returns the most bytes that `group` may hold; nil for no limit. The rules that grant the group add up: the one
    /// that allows the most counts.
    package func bytes(of group: String) -> Int? {
        let matching = grants.filter { $0.group == Client.everyGroup || $0.group.isSameGroup(as: group) }
        let limits = matching.compactMap(\.bytes)
        return limits.count < matching.count ? nil : limits.max()
    }
}
