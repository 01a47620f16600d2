import Foundation
import TestSupport

/// `Tests/Support/Vectors/format-vectors.py`, the second implementation of what is written to disk, with the machine's
/// Python and its `cryptography`.
enum FormatVectors {
    private static let peer = Result {
        try PythonPeer(
            Repository.file("Tests/Support/Vectors/format-vectors.py").path)
    }

    /// What it prints about a vault.
    static func read(_ path: String, _ options: [String]) throws -> Data {
        Data(try peer.get().ask(options + [path]).utf8)
    }
}
