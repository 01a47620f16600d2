import DatabaseVFS
import Foundation
import GRDB
import KeychainModel

/// Writes to an encrypted database until it is killed or has done its work, and prints the number of each row that is
/// committed.
@main enum DatabaseWorker {
    static func main() throws { try Work(Array(CommandLine.arguments.dropFirst())).run() }
}
