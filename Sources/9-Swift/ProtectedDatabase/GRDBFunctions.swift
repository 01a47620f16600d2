import DatabaseFiles
import Foundation
import GRDB
import SystemSQLite

/// The functions and orders of texts that GRDB adds to its connections, for connections that GRDB does not open:
/// databases of programs with GRDB have them in their indexes.
enum GRDBFunctions {
    @Sendable
    static func add(to connection: SQLConnection) throws(SQLiteError) {
        try TextFunctions.add(to: connection)
        try connection.add(function: "swiftCapitalizedString") { $0.capitalized }
        try connection.add(function: "swiftLocalizedCapitalizedString") { $0.localizedCapitalized }
        try connection.add(function: "swiftLocalizedLowercaseString") { $0.localizedLowercase }
        try connection.add(function: "swiftLocalizedUppercaseString") { $0.localizedUppercase }
        try connection.add(collation: DatabaseCollation.caseInsensitiveCompare.name) {
            $0.caseInsensitiveCompare($1).rawValue
        }
        try connection.add(collation: DatabaseCollation.localizedCaseInsensitiveCompare.name) {
            $0.localizedCaseInsensitiveCompare($1).rawValue
        }
        try connection.add(collation: DatabaseCollation.localizedCompare.name) { $0.localizedCompare($1).rawValue }
        try connection.add(collation: DatabaseCollation.localizedStandardCompare.name) {
            $0.localizedStandardCompare($1).rawValue
        }
    }
}
