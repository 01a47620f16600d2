import Foundation
import Glibc

extension Worker {
    /// The path of `keychaind`: a link to `keychain`, which is built beside the tests.
    package static let daemon: String = {
        let path = URL(fileURLWithPath: executable).deletingLastPathComponent().path + "/keychaind"
        // Renamed into place, because other tests may be starting it and an earlier build may have left a program
        // there.
        let fresh = "\(path).\(getpid())"
        unlink(fresh)
        guard symlink("keychain", fresh) == 0, rename(fresh, path) == 0 else {
            preconditionFailure("no link \(path): \(String(cString: strerror(errno)))")
        }
        return path
    }()
}
