import KeychainModel

/// The protection classes as this command calls them.
extension FileProtectionClass {
    var commandName: String {
        switch self {
        case .complete: "complete"
        case .completeUnlessOpen: "complete-unless-open"
        case .completeUntilFirstUserAuthentication: "until-first-unlock"
        case .none: "none"
        }
    }

    init(commandName name: String) throws(Failure) {
        guard let found = Self.allCases.first(where: { $0.commandName == name }) else {
            let names = Self.allCases.map(\.commandName).joined(separator: ", ")
            throw .usage("'\(name.escapedForTerminal)' is no protection class: choose one of \(names)")
        }
        self = found
    }
}
