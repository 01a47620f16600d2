import CLibrary
import Synchronization

/// The open databases of this process. SQLite removes journals and logs by name, and their databases must be told
/// before.
final class OpenFiles: Sendable {
    static let shared = OpenFiles()

    private let mains = Mutex<[OpenMainFile]>([])

    func add(_ file: MainFile) { mains.withLock { $0.append(OpenMainFile(file: file)) } }

    func remove(_ file: MainFile) { mains.withLock { $0.removeAll { open in open.file === file } } }

    /// Returns the databases whose journal or log has this name.
    func files(removing name: UnsafePointer<CChar>) -> [MainFile] {
        mains.withLock { $0.filter { open in open.file.isSidecar(name) } }.map(\.file)
    }
}

/// A lock for one thread at a time. It takes a few nanoseconds.
final class FileLock {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    init() {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    @inline(__always) func lock() { pthread_mutex_lock(mutex) }
    @inline(__always) func unlock() { pthread_mutex_unlock(mutex) }
}
