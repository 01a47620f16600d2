import ArgumentParser
import Bytes
import FoundationEssentials
import KeychainModel
import VaultInterface

/// What can be changed of an item whose secret stays.
package struct ChangeOptions: ParsableArguments {
    @Option(help: ArgumentHelp("A name for people.", valueName: "text"))
    package var label: String?

    @Option(help: ArgumentHelp("A remark.", valueName: "text"))
    package var comment: String?

    @Option(
        help: ArgumentHelp(
            "An attribute of your own, new or with another value; the others stay. Repeat the option to give several.",
            valueName: "name=value"))
    package var attribute: [CustomAttribute] = []

    @Option(
        name: .customLong("remove-attribute"),
        help: ArgumentHelp("Take away this attribute of your own. Repeat the option for several.", valueName: "name"))
    package var removed: [String] = []

    @Option(
        help: ArgumentHelp(
            "When the secret expires: after 90s, 10m, 12h or 7d, at 2027-01-31 (00:00 UTC) or 2027-01-31T12:00:00Z, or "
                + "never.",
            valueName: "when"))
    package var expires: String?

    @Option(
        help: ArgumentHelp(
            "How many former versions of the secret to keep: 0 to 1000, or default for what `keychain history` says of "
                + "the vault.",
            valueName: "number"))
    package var keep: String?

    @Option(help: ArgumentHelp("When the secret can be read.", valueName: "class"))
    package var accessible: ProtectionName?

    @Option(
        help: ArgumentHelp(
            "What reading it takes besides an unlocked vault, instead of what it took. If repeated, all of them are "
                + "needed.",
            valueName: "requirement"))
    package var require: [ItemRequirement] = []

    @Flag(name: .customLong("no-require"), help: "Reading it takes nothing besides an unlocked vault any more.")
    package var requiresNothing = false

    package init() {}

    package func validate() throws {
        let named = try attribute.dictionary()
        if let name = removed.first(where: { named[$0] != nil }) {
            throw ValidationError("--attribute and --remove-attribute both name '\(name)'")
        }
        if expires != nil, expiry == nil { throw ValidationError("--expires takes \(Moment.forms), or never") }
        if keep != nil, kept == nil { throw ValidationError("--keep takes a number from 0 to 1000, or default") }
        guard require.isEmpty || !requiresNothing else {
            throw ValidationError("--require and --no-require exclude each other")
        }
        guard AccessControl.isValid(flags) else {
            throw ValidationError(
                "these requirements exclude each other: 'presence' stands alone or with 'password', and "
                    + "'biometry' excludes 'current-biometry'")
        }
        guard
            label != nil || comment != nil || !attribute.isEmpty || !removed.isEmpty || expiry != nil || kept != nil
                || accessible != nil || !require.isEmpty || requiresNothing
        else { throw ValidationError("say what to change, as in --attribute stage=production or --expires 90d") }
    }

    /// Nil if none was given, or one that is no time.
    private var expiry: Expiry? {
        expires == "never" ? .never : expires.flatMap { Moment.date($0, direction: 1) }.map(Expiry.at)
    }

    /// Nil if none was given, or one that is no number of versions.
    private var kept: KeptVersions? {
        if keep == "default" { return .vaultDefault }
        return keep.flatMap { Int($0) }.map(KeptVersions.atMost).flatMap { $0.isValid ? $0 : nil }
    }

    private var flags: AccessControl.Flags {
        require.reduce(into: AccessControl.Flags()) { $0.formUnion($1.flag) }
    }

    /// Returns the changes to an item as it is now.
    ///
    /// - Throws: `ValidationError` for attributes that no item can have.
    package func changes(to item: StoredItem) throws -> ItemChanges {
        var changes = ItemChanges()
        changes.attributes[.label] = label.map { .string($0) }
        changes.attributes[.comment] = comment.map { .string($0) }
        if !attribute.isEmpty || !removed.isEmpty {
            var custom = item.customAttributes.merging(try attribute.dictionary()) { $1 }
            for name in removed {
                guard custom.removeValue(forKey: name) != nil else {
                    throw Failure.usage("the item has no attribute '\(name)': `keychain info` shows what it has")
                }
            }
            if let problem = custom.problem { throw Failure.usage("--attribute: \(problem)") }
            changes.customAttributes = custom
        }
        changes.expiry = expiry
        changes.kept = kept
        if accessible != nil || !require.isEmpty || requiresNothing {
            let isChosen = !require.isEmpty || requiresNothing
            changes.accessControl = AccessControl(
                protection: accessible?.protection ?? item.accessControl.protection,
                flags: isChosen ? (requiresNothing ? nil : flags) : item.accessControl.flags)
        }
        return changes
    }

    /// Changes an item.
    ///
    /// - Parameter authentication: How a person may be asked for it.
    package func change(_ item: StoredItem, in session: VaultSession, asking authentication: AuthenticationOptions)
        throws
    {
        try ItemRequirement.check(require, session)
        if let date = expiry?.date, date <= Date() {
            CommandNote.show("this expiry has passed: only `keychain get --expired` will read the secret")
        }
        var query = ItemQuery(item: item)
        query.authentication = authentication
        query.includesExpired = true
        try session.perform(UpdateItems(query, with: changes(to: item)))
    }
}
