import SystemSQLite

/// What statements and indexes of a database may use besides SQLite's own functions: added to every connection that is
/// opened.
package typealias ConnectionPreparation = @Sendable (SQLConnection) throws(SQLiteError) -> Void

/// The text functions and collations of GRDB that need only the standard library, under GRDB's names, because indexes
/// of databases use those names.
///
/// Those that compare by the rules of a language need Foundation. A program with GRDB adds them (see `GRDBFunctions`).
package enum TextFunctions {
    /// What Foundation has to do: a database that needs one of these cannot be copied without it.
    package static func isOfFoundation(_ name: some StringProtocol) -> Bool {
        foundationNames.contains { $0.lowercased() == name.lowercased() }
    }

    private static let foundationNames = [
        "swiftCapitalizedString", "swiftLocalizedCapitalizedString", "swiftLocalizedLowercaseString",
        "swiftLocalizedUppercaseString", "swiftCaseInsensitiveCompare", "swiftLocalizedCaseInsensitiveCompare",
        "swiftLocalizedCompare", "swiftLocalizedStandardCompare",
    ]

    @Sendable
    package static func add(to connection: SQLConnection) throws(SQLiteError) {
        try connection.add(function: "swiftLowercaseString") { $0.lowercased() }
        try connection.add(function: "swiftUppercaseString") { $0.uppercased() }
        try connection.add(collation: "swiftCompare") { $0 < $1 ? -1 : $0 == $1 ? 0 : 1 }
    }
}
