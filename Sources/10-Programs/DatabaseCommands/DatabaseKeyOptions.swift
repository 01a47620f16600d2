import Access
import ArgumentParser
import CommandKit
import DatabaseFiles
import FoundationEssentials
import KeychainModel
import StatusCodes
import StoredKeys

/// Where the key of a database is kept.
struct DatabaseKeyOptions: ParsableArguments {
    enum Place: String, CaseIterable, ExpressibleByArgument, Encodable {
        case keychain, enclave, file

        /// As a person reads it.
        var description: String {
            let place: ProtectedDatabaseFile.KeyInfo.Place =
                switch self {
                case .keychain: .keychain
                case .enclave: .enclave
                case .file: .file
                }
            return place.description
        }
    }

    @Option(
        name: .customLong("class"),
        help: ArgumentHelp(
            "complete, complete-unless-open, until-first-unlock (unless given) or none.", valueName: "class"))
    var className: String?

    @Option(
        name: .customLong("key-in"),
        help: ArgumentHelp(
            "Where its key is kept: keychain (unless given); enclave, so that it opens on this machine alone; or file, "
                + "a protected file beside it.", valueName: "place"))
    var place: Place?

    @Option(
        help: ArgumentHelp(
            "What opening takes besides an unlocked vault. If repeated, all of them are needed.",
            valueName: "requirement"))
    var require: [ItemRequirement] = []

    @Option(help: ArgumentHelp("The access group whose programs may open it.", valueName: "group"))
    var group: String?

    func validate() throws { try Self.check(place, require, group) }

    static func check(_ place: Place?, _ require: [ItemRequirement], _ group: String?) throws(ValidationError) {
        guard group?.isEmpty != true, group != Client.everyGroup else {
            throw ValidationError("--group takes the name of one access group, not '' or '*'")
        }
        if place == .file, group != nil || !require.isEmpty {
            throw ValidationError(
                "a key in a file can have no access group and no requirements: leave out --group and --require")
        }
        guard AccessControl.isValid(require.reduce(into: []) { $0.formUnion($1.flag) }) else {
            throw ValidationError(
                "these requirements exclude each other: 'presence' stands alone or with 'password', and "
                    + "'biometry' excludes 'current-biometry'")
        }
    }

    /// Returns the requirements. For a key of the enclave they are conditions of its use.
    private static func flags(_ require: [ItemRequirement], _ place: Place?) -> AccessControl.Flags? {
        guard !require.isEmpty else { return nil }
        return require.reduce(into: place == .enclave ? .privateKeyUsage : []) { $0.formUnion($1.flag) }
    }

    /// Whether any option was given.
    var isGiven: Bool { className != nil || place != nil || !require.isEmpty || group != nil }

    var storage: DatabaseKeyStorage {
        get throws { try Self.storage(className, place ?? .keychain, require, group: group, nil) }
    }

    /// - Parameter former: How the key was kept. It keeps its class if none is given.
    static func storage(
        _ className: String?, _ place: Place, _ require: [ItemRequirement], group: String?,
        _ former: ProtectedDatabaseFile.KeyInfo?
    ) throws -> DatabaseKeyStorage {
        let given = try className.map { try FileProtectionClass(commandName: $0) }
        let type = given?.type ?? former?.protection ?? .completeUntilFirstUserAuthentication
        // The keychain has classes that files do not have.
        let isOfItemsAlone = given == nil && former?.protection == nil
        let itemClass = isOfItemsAlone ? former?.accessible.flatMap { ProtectionClass(rawValue: $0) } : nil
        if place != .file, !require.isEmpty || itemClass != nil {
            let control = AccessControl(
                protection: itemClass ?? FileProtectionClass(of: type)?.itemClass ?? .afterFirstUnlock,
                flags: flags(require, place))
            let storage = DatabaseKeyStorage.item(
                StoredKeyProtection(control, isInEnclave: place == .enclave), accessGroup: group)
            return type == .completeUnlessOpen && itemClass == nil ? storage.stayingOpen : storage
        }
        switch place {
        case .keychain: return try .keychain(type, accessGroup: group)
        case .enclave: return try .enclave(type, accessGroup: group)
        case .file: return try .file(type)
        }
    }
}

extension FileProtectionClass {
    /// The class of items that are readable when files of this class are.
    var itemClass: ProtectionClass {
        switch self {
        case .complete, .completeUnlessOpen: .whenUnlocked
        case .completeUntilFirstUserAuthentication: .afterFirstUnlock
        case .none: .always
        }
    }

    fileprivate var type: FileProtectionType {
        switch self {
        case .complete: .complete
        case .completeUnlessOpen: .completeUnlessOpen
        case .completeUntilFirstUserAuthentication: .completeUntilFirstUserAuthentication
        case .none: FileProtectionType.none
        }
    }
}
