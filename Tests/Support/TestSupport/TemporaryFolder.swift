import Foundation
import Glibc
import Synchronization

/// A new folder of mode 0700 that is removed with this object, and at the end of this process.
package final class TemporaryFolder: Sendable {
    package let path: String

    /// - Parameter place: The parent folder; nil for the folder of temporary files.
    package init(in place: String? = nil) throws {
        // In a shared folder, the name contains this number, so that `Scripts/check/run-tests.py` finds the folder.
        let owner = place == nil ? nil : ProcessInfo.processInfo.environment["KEYCHAIN_TEST_SUPERVISED"]
        let name = "keychain-test-" + (owner.map { "\($0)-" } ?? "") + "XXXXXX"
        var template = Array("\(place ?? Self.place)/\(name)".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        try TestWatcher.remove(folder: path)
        Self.removesAtEnd
        Self.living.withLock { _ = $0.insert(path) }
    }

    deinit {
        Self.living.withLock { _ = $0.remove(path) }
        Self.remove(path)
    }

    /// Tries again after a failure: a database that another thread closes may create a file in the folder meanwhile.
    private static func remove(_ path: String) {
        for _ in 0..<1_000 {
            if (try? FileManager.default.removeItem(atPath: path)) != nil || access(path, F_OK) != 0 { return }
            usleep(1_000)
        }
    }

    /// The folders whose object exists. An object in a static property exists until the process ends.
    private static let living = Mutex(Set<String>())

    private static let removesAtEnd: Void = {
        _ = atexit {
            for path in TemporaryFolder.living.withLock({ $0 }) { remove(path) }
        }
    }()

    package func path(of name: String) -> String { path + "/" + name }

    /// `TMPDIR`, unless the paths of sockets below it would be too long (unix(7)).
    private static let place: String = {
        let given = ProcessInfo.processInfo.environment["TMPDIR"] ?? ""
        return given.hasPrefix("/") && given.utf8.count <= 40 ? given : "/tmp"
    }()
}
