import Foundation
import TestSupport

/// `Scripts/format-vectors.py`, the second implementation of what is written to disk, with the machine's Python and its
/// `cryptography`.
enum FormatVectors {
    private static let peer = Result {
        try PythonPeer(
            URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("../../Scripts/format-vectors.py").standardizedFileURL.path)
    }

    /// What it prints about a vault.
    static func read(_ path: String, _ options: [String]) throws -> Data {
        Data(try peer.get().ask(options + [path]).utf8)
    }
}
