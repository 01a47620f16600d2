import Foundation

/// The repository that the tests were built from.
package enum Repository {
    /// Its folder.
    package static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../..").standardizedFileURL

    /// The place of a file or folder, by its path from the repository's folder on.
    package static func file(_ path: String) -> URL { root.appending(path: path) }

    /// The text of a file.
    package static func text(_ path: String) throws -> String { try String(contentsOf: file(path), encoding: .utf8) }
}
