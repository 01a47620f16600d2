extension FileProtectionClass {
    /// The class as commands and extended attributes call it.
    package var commandName: String {
        switch self {
        case .complete: "complete"
        case .completeUnlessOpen: "complete-unless-open"
        case .completeUntilFirstUserAuthentication: "until-first-unlock"
        case .none: "none"
        }
    }

    /// Nil if no class is called so.
    package init?(named name: String) {
        guard let found = Self.allCases.first(where: { $0.commandName == name }) else { return nil }
        self = found
    }
}
