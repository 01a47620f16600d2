import CLibrary
import Synchronization

/// The open databases of this process. SQLite removes journals and logs by name, and their databases must be told
/// before.
final class OpenFiles: Sendable {
    static let shared = OpenFiles()

    private let mains = Mutex<[OpenMainFile]>([])

    func add(_ file: DatabaseFile) { mains.withLock { $0.append(OpenMainFile(file: file)) } }

    func remove(_ file: DatabaseFile) { mains.withLock { $0.removeAll { open in open.file === file } } }

    /// Returns the databases whose journal or log has this name.
    func files(removing name: UnsafePointer<CChar>) -> [DatabaseFile] {
        mains.withLock { $0.filter { open in open.file.isSidecar(name) } }.map(\.file)
    }
}
