import KeychainModel

/// The protection classes on the command line.
extension FileProtectionClass {
    package init(commandName name: String) throws {
        guard let found = FileProtectionClass(named: name) else {
            let names = Self.allCases.map(\.commandName).joined(separator: ", ")
            throw Failure.usage("'\(name.escapedForTerminal)' is no protection class: choose one of \(names)")
        }
        self = found
    }
}
