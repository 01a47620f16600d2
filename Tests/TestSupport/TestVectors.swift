import Foundation
import Testing

/// The files of vectors that others published, out of the package that `Scripts/setup.sh --tests` installs.
package enum TestVectors {
    /// Where the package is: the set-up puts the version there that `Scripts/test-vectors.txt` names.
    private static let package = URL(fileURLWithPath: #filePath).appendingPathComponent("../../..")
        .standardizedFileURL.appendingPathComponent(".build/test-vectors/cryptography_vectors")

    /// Returns the contents of a file; without the file, the test fails.
    package static func contents(of path: String) throws -> Data {
        let url = package.appendingPathComponent(path)
        return try #require(
            try? Data(contentsOf: url), "there is no \(url.path): run Scripts/setup.sh --tests, which installs it")
    }
}
