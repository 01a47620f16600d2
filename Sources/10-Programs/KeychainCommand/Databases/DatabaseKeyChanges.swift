import ArgumentParser
import KeychainModel
import StatusCodes
import DatabaseFiles

/// What is to be different about the keeping of a key that is there: what nobody says anything about stays as it is.
struct DatabaseKeyChanges: ParsableArguments {
    @Option(
        name: .customLong("class"),
        help: ArgumentHelp(
            "complete, complete-unless-open, until-first-unlock or none; as it was unless given.", valueName: "class"))
    var className: String?

    @Option(
        name: .customLong("key-in"),
        help: ArgumentHelp(
            "Where its key is kept: keychain; enclave, so that it opens on this machine alone; or file, a protected file "
                + "beside it. As it was unless given.", valueName: "place"))
    var place: DatabaseKeyOptions.Place?

    @Option(
        help: ArgumentHelp(
            "What opening takes beside an unlocked vault; several are all needed. They take the place of those that there "
                + "were.", valueName: "requirement"))
    var require: [ItemRequirement] = []

    @Flag(help: "Opening takes no more than an unlocked vault, whatever it took.")
    var noRequire = false

    @Option(
        help: ArgumentHelp("The access group whose programs may open it; as it was unless given.", valueName: "group"))
    var group: String?

    func validate() throws {
        try DatabaseKeyOptions.check(place, require, group)
        guard require.isEmpty || !noRequire else {
            throw ValidationError("--require and --no-require exclude each other")
        }
    }

    /// Whether anything was asked for.
    var isGiven: Bool { className != nil || place != nil || !require.isEmpty || noRequire || group != nil }

    /// How the key is kept from now on; nil for as it was.
    ///
    /// - Parameter file: The database whose key it is.
    func storage(_ file: ProtectedDatabaseFile) throws(Failure) -> DatabaseKeyStorage? {
        guard isGiven else { return nil }
        let former = try handlingDatabase { () throws(ProtectedDatabaseError) in try file.info().key }
        let place = place ?? former?.place.option ?? .keychain
        guard place != .file || group == nil && require.isEmpty else {
            throw .usage("a key in a file has no access group and no requirements: say where it goes with --key-in")
        }
        var requirements = require
        if requirements.isEmpty, !noRequire, let flags = former?.accessControl?.flags {
            requirements = ItemRequirement.allCases.filter { flags.contains($0.flag) }
        }
        guard place != .file || requirements.isEmpty else {
            throw .usage("a key in a file has no requirements, and this one has: say --no-require to give them up")
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
