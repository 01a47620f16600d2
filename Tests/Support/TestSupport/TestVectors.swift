import Foundation
import Testing

/// The files of vectors that others published, out of the package that `Scripts/install/setup.sh --tests` installs.
package enum TestVectors {
    /// Where the package is: the set-up puts the version there that `Tests/Support/Vectors/test-vectors.txt` names.
    private static let package = Repository.file(".build/test-vectors/cryptography_vectors")

    /// Returns the contents of a file; without the file, the test fails.
    package static func contents(of path: String) throws -> Data {
        let url = package.appendingPathComponent(path)
        return try #require(
            try? Data(contentsOf: url),
            "there is no \(url.path): run Scripts/install/setup.sh --tests, which installs it")
    }
}
