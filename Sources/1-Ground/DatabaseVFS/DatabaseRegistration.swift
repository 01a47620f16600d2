import Synchronization

/// A claim to a database's key. While it exists, the database opens through the VFS.
///
/// Claims to the same file share the key and the failures. The last claim removes the key. Files that are already open
/// keep working.
package final class DatabaseRegistration: Sendable {
    let place: RegisteredPlace

    private let isReleased = Atomic(false)

    init(place: RegisteredPlace) { self.place = place }

    deinit { release() }

    /// Ends the claim before this value ends.
    package func release() {
        guard !isReleased.exchange(true, ordering: .acquiringAndReleasing) else { return }
        RegisteredPlaces.shared.release(place)
    }

    /// The path in SQLite's form: absolute and without links.
    package var path: String { place.path }

    /// The URI that opens the file through the VFS.
    package var uri: String { EncryptingVFS.uri(path: path) }

    /// The bytes at the end of each page that a new file has for its seal.
    package var reserved: Int { place.reserved }

    /// Returns the reason why the last operation on the file failed, and clears it.
    package func takeFailure() -> VFSFailure? { place.takeFailure() }

    /// Takes the key from all connections for good. From now on reads and writes fail, and the derived keys are wiped.
    /// Connections can still be closed; until then, the pages in SQLite's own cache stay.
    package func revoke() { place.revoke() }
}

/// A file that was registered.
final class RegisteredPlace: Sendable {
    enum Contents: Sendable {
        case plain
        case formed(any PageForm)
    }

    private struct State {
        var contents: Contents?
        var claims = 1
        var failure: VFSFailure?
        var files: [OpenMainFile] = []
    }

    let path: String
    private let state: Mutex<State>

    init(path: String, contents: Contents) {
        self.path = path
        state = Mutex(State(contents: contents))
    }

    /// Nil after the key was revoked.
    var contents: Contents? { state.withLock { $0.contents } }

    /// The bytes at the end of each page that a new file has for its seal.
    var reserved: Int {
        switch contents {
        case .formed(let form): form.reserved
        case .plain, nil: 0
        }
    }

    var isRevoked: Bool { state.withLock { $0.contents == nil } }

    /// Adds a claim. Returns false if the claim has other contents and cannot share this place.
    func claim(_ contents: Contents) -> Bool {
        state.withLock {
            switch ($0.contents, contents) {
            case (.plain, .plain): break
            case (.formed(let present), .formed(let form)) where present.isSame(as: form): break
            default: return false
            }
            $0.claims += 1
            return true
        }
    }

    /// Removes a claim. Returns whether it was the last one.
    func release() -> Bool {
        state.withLock {
            $0.claims -= 1
            return $0.claims == 0
        }
    }

    func note(_ failure: VFSFailure) { state.withLock { $0.failure = failure } }

    func takeFailure() -> VFSFailure? {
        state.withLock { state in
            defer { state.failure = nil }
            return state.failure
        }
    }

    func add(_ file: DatabaseFile) { state.withLock { state in state.files.append(OpenMainFile(file: file)) } }

    func remove(_ file: DatabaseFile) {
        state.withLock { state in state.files.removeAll { open in open.file === file } }
    }

    func revoke() {
        let files = state.withLock { state in
            state.contents = nil
            return state.files
        }
        for open in files { open.file.forgetKey() }
    }
}

/// An open file, as other threads use it.
// Safe to share between threads: threads other than the connection's own call only `forgetKey` and `willRemove`, which
// take the file's lock, and `isSidecar`, which reads names that never change.
struct OpenMainFile: @unchecked Sendable {
    let file: DatabaseFile
}

/// The registered files, by path.
final class RegisteredPlaces: Sendable {
    static let shared = RegisteredPlaces()

    private let places = Mutex<[String: RegisteredPlace]>([:])

    /// Adds a claim to the file. All claims to a file must have the same contents.
    func claim(_ path: String, contents: RegisteredPlace.Contents) throws(RegistrationError) -> DatabaseRegistration {
        let place: RegisteredPlace? = places.withLock { places in
            if let place = places[path], !place.isRevoked { return place.claim(contents) ? place : nil }
            let place = RegisteredPlace(path: path, contents: contents)
            places[path] = place
            return place
        }
        guard let place else { throw .otherKey(path: path) }
        return DatabaseRegistration(place: place)
    }

    func release(_ place: RegisteredPlace) {
        places.withLock {
            if place.release(), $0[place.path] === place { $0[place.path] = nil }
        }
    }

    subscript(path: String) -> RegisteredPlace? { places.withLock { $0[path] } }
}

/// The reason why a database's key was not accepted.
package enum RegistrationError: Error, Equatable, CustomStringConvertible {
    case otherKey(path: String)
    case noSuchFolder(path: String)
    /// SQLite was built without a required option.
    case unsuitableSQLite(reason: String)

    package var description: String {
        switch self {
        case .otherKey(let path): "\(path) is open with another key; close it first"
        case .noSuchFolder(let path): "the folder of \(path) does not exist"
        case .unsuitableSQLite(let reason): "this SQLite cannot keep encrypted databases: \(reason)"
        }
    }
}
