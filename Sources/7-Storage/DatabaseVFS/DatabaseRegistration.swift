import DatabasePages
import KeychainModel
import Synchronization

/// A claim to a database's key: while there is one, the database opens through the VFS.
///
/// Claims to the same file share key and failures. The last one that goes takes the key along; files that are still open go on.
package final class DatabaseRegistration: Sendable {
    let place: RegisteredPlace

    private let isReleased = Atomic(false)

    init(place: RegisteredPlace) { self.place = place }

    deinit { release() }

    /// Gives the claim up before this value goes.
    package func release() {
        guard !isReleased.exchange(true, ordering: .acquiringAndReleasing) else { return }
        RegisteredPlaces.shared.release(place)
    }

    /// As SQLite has it: absolute, and without links.
    package var path: String { place.path }

    /// What opens the file through the VFS.
    package var uri: String { EncryptingVFS.uri(path: path) }

    /// Whether the file is, or becomes, an encrypted one.
    package var isEncrypted: Bool { place.key != nil }

    /// Why the last operation on the file failed, since this was asked last.
    package func takeFailure() -> VFSFailure? { place.takeFailure() }

    /// Takes the key away from all connections, for good: reads and writes fail from now on, and what was derived from it is
    /// wiped. They can still be closed. Pages in SQLite's own cache stay until then.
    package func revoke() { place.revoke() }
}

/// A file for which there is a key.
final class RegisteredPlace: Sendable {
    enum Contents: Sendable {
        case plain
        /// With the id that a database gets which is made there.
        case encrypted(key: SecretBytes, creating: DatabaseID?)
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

    /// Nil once the key was taken away.
    var contents: Contents? { state.withLock { $0.contents } }

    var key: SecretBytes? {
        if case .encrypted(let key, _) = contents { key } else { nil }
    }

    /// The id of a database that is made now.
    var newDatabase: DatabaseID {
        if case .encrypted(_, let database?) = contents { database } else { DatabaseID() }
    }

    var isRevoked: Bool { state.withLock { $0.contents == nil } }

    /// Whether another claim may share this place.
    func claim(_ contents: Contents) -> Bool {
        state.withLock {
            switch ($0.contents, contents) {
            case (.plain, .plain): break
            case (.encrypted(let present, _), .encrypted(let key, _)) where present == key: break
            default: return false
            }
            $0.claims += 1
            return true
        }
    }

    /// Whether that was the last claim.
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

    func add(_ file: MainFile) { state.withLock { state in state.files.append(OpenMainFile(file: file)) } }

    func remove(_ file: MainFile) { state.withLock { state in state.files.removeAll { open in open.file === file } } }

    func revoke() {
        let files = state.withLock { state in
            state.contents = nil
            return state.files
        }
        for open in files { open.file.forgetKey() }
    }
}

/// A file that is open, as other threads see it.
// Safe to share between threads: others than the connection's own call nothing but `forgetKey` and `willRemove`, which take the file's
// lock, and `isSidecar`, which reads names that never change.
struct OpenMainFile: @unchecked Sendable {
    let file: MainFile
}

/// The files for which there are keys, by path.
final class RegisteredPlaces: Sendable {
    static let shared = RegisteredPlaces()

    private let places = Mutex<[String: RegisteredPlace]>([:])

    /// A claim to the file, which has to have the same contents as other claims to it.
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

/// Why a database's key was not taken on.
package enum RegistrationError: Error, Equatable, CustomStringConvertible {
    case otherKey(path: String)
    case noSuchFolder(path: String)
    /// SQLite was built without what this needs.
    case unsuitableSQLite(reason: String)

    package var description: String {
        switch self {
        case .otherKey(let path): "\(path) is open with another key; close it first"
        case .noSuchFolder(let path): "the folder of \(path) does not exist"
        case .unsuitableSQLite(let reason): "this SQLite cannot keep encrypted databases: \(reason)"
        }
    }
}
