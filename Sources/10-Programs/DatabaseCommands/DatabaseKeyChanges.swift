import ArgumentParser
import CommandKit
import DatabaseFiles

/// Options that change how an existing key is kept. What no option names stays as it is.
struct DatabaseKeyChanges: ParsableArguments {
    @Option(
        name: .customLong("class"),
        help: ArgumentHelp(
            "complete, complete-unless-open, until-first-unlock or none; unchanged unless given.", valueName: "class"))
    var className: String?

    @Option(
        name: .customLong("key-in"),
        help: ArgumentHelp(
            "Where its key is kept: keychain; enclave, so that it opens on this machine alone; or file, a protected "
                + "file beside it. Unchanged unless given.", valueName: "place"))
    var place: DatabaseKeyOptions.Place?

    @Option(
        help: ArgumentHelp(
            "What opening takes besides an unlocked vault. If repeated, all of them are needed. Replaces the former "
                + "requirements.", valueName: "requirement"))
    var require: [ItemRequirement] = []

    @Flag(help: "Remove all requirements: opening takes no more than an unlocked vault.")
    var noRequire = false

    @Option(
        help: ArgumentHelp("The access group whose programs may open it; unchanged unless given.", valueName: "group"))
    var group: String?

    func validate() throws {
        try DatabaseKeyOptions.check(place, require, group)
        guard require.isEmpty || !noRequire else {
            throw ValidationError("--require and --no-require exclude each other")
        }
    }

    /// Whether any option was given.
    var isGiven: Bool { className != nil || place != nil || !require.isEmpty || noRequire || group != nil }

    /// Returns how the key is kept from now on, or nil if nothing changes.
    ///
    /// - Parameter file: The database whose key it is.
    func storage(_ file: ProtectedDatabaseFile) throws -> DatabaseKeyStorage? {
        guard isGiven else { return nil }
        let former = try file.info().key
        let place = place ?? former?.place.option ?? .keychain
        guard place != .file || group == nil && require.isEmpty else {
            throw Failure.usage(
                "a key in a file can have no access group and no requirements: choose another place with --key-in")
        }
        var requirements = require
        if requirements.isEmpty, !noRequire, let flags = former?.accessControl?.flags {
            requirements = ItemRequirement.allCases.filter { flags.contains($0.flag) }
        }
        guard place != .file || requirements.isEmpty else {
            throw Failure.usage(
                "a key in a file can have no requirements, and this key has some: say --no-require to remove them")
        }
        return try DatabaseKeyOptions.storage(
            className, place, requirements, group: group ?? former?.accessGroup, former)
    }
}

extension ProtectedDatabaseFile.KeyInfo.Place {
    var option: DatabaseKeyOptions.Place {
        switch self {
        case .keychain: .keychain
        case .enclave: .enclave
        case .file: .file
        }
    }
}
