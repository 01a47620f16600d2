import Access
import ArgumentParser
import Foundation
import KeychainModel
import KeychainServices
import ProtectedDatabase
import StoredKeys

/// Where the key of a database is kept.
struct DatabaseKeyOptions: ParsableArguments {
    enum Place: String, CaseIterable, ExpressibleByArgument {
        case keychain, enclave, file
    }

    @Option(
        name: .customLong("class"),
        help: ArgumentHelp(
            "complete, complete-unless-open, until-first-unlock (unless given) or none.", valueName: "class"))
    var className: String?

    @Option(
        name: .customLong("key-in"),
        help: ArgumentHelp(
            "Where its key is kept: keychain (unless given); enclave, so that it opens on this machine alone; or file, a "
                + "protected file beside it.", valueName: "place"))
    var place: Place?

    @Option(
        help: ArgumentHelp(
            "What opening takes beside an unlocked vault; several are all needed.", valueName: "requirement"))
    var require: [ItemRequirement] = []

    @Option(help: ArgumentHelp("The access group whose programs may open it.", valueName: "group"))
    var group: String?

    func validate() throws {
        guard group?.isEmpty != true, group != Client.everyGroup else {
            throw ValidationError("--group names one access group, and '' and '*' are none")
        }
        if place == .file, group != nil || !require.isEmpty {
            throw ValidationError("a key in a file has no access group and no requirements")
        }
        guard AccessControl.isValid(require.reduce(into: []) { $0.formUnion($1.flag) }) else {
            throw ValidationError(
                "these requirements exclude each other: 'presence' stands alone or with 'password', and "
                    + "'biometry' excludes 'current-biometry'")
        }
    }

    /// For a key that is not a database's of this program's own.
    var itemProtection: StoredKeyProtection {
        get throws(Failure) {
            guard place != .file else {
                throw .usage(
                    "the key of a SQLCipher file is kept in the keychain or, with --key-in enclave, for the enclave")
            }
            let protection =
                try className.map { (name) throws(Failure) in try FileProtectionClass(commandName: name) }
                ?? .completeUntilFirstUserAuthentication
            let flags = require.reduce(into: AccessControl.Flags()) { $0.formUnion($1.flag) }
            let control = AccessControl(protection: protection.itemClass, flags: flags.isEmpty ? nil : flags)
            return StoredKeyProtection(SecAccessControl(control), isInEnclave: place == .enclave)
        }
    }

    /// Whether anything was asked for.
    var isGiven: Bool { className != nil || place != nil || !require.isEmpty || group != nil }

    var storage: DatabaseKeyStorage {
        get throws(Failure) {
            let protection =
                try className.map { (name) throws(Failure) in try FileProtectionClass(commandName: name) }
                ?? .completeUntilFirstUserAuthentication
            return try handlingDatabase { () throws(ProtectedDatabaseError) in
                let place = place ?? .keychain
                guard require.isEmpty else {
                    let control = SecAccessControl(
                        AccessControl(
                            protection: protection.itemClass,
                            flags: require.reduce(into: AccessControl.Flags()) { $0.formUnion($1.flag) }))
                    return place == .enclave
                        ? .enclave(control, accessGroup: group) : .keychain(control, accessGroup: group)
                }
                switch place {
                case .keychain: return try .keychain(protection.type, accessGroup: group)
                case .enclave: return try .enclave(protection.type, accessGroup: group)
                case .file: return try .file(protection.type)
                }
            }
        }
    }
}

extension FileProtectionClass {
    /// The class of items that opens when files of this class do.
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
