import CLibrary
import Foundation
import PrivateFiles
import SystemLibraries

/// The note of the signed-in person in the file of the program's preferences. `UserDefaults` uses the same file and the
/// same key.
///
/// The file is read and replaced here. `UserDefaults` reads it once and not again when another process has changed it.
/// It also empties it before it writes: on a full disk all preferences are lost, and `synchronize` tells of the failure
/// without saying whose it was.
struct Preferences: Sendable {
    /// Nil for the program's own.
    let suite: String?
    let key: String

    struct Note: Codable, Equatable {
        var user: AuthController.User
        /// Whether what goes with the person is being removed.
        var isSigningOut: Bool
    }

    /// Where Foundation on Linux keeps preferences (CFKnownLocations.c, CFPlatform.c).
    private static var folder: String {
        if let folder = Environment.path(in: "XDG_CONFIG_HOME") { return folder }
        let home = Environment.path(in: "HOME") ?? NSHomeDirectory()
        return home + "/.config"
    }

    private var name: String { suite ?? Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName }

    var path: String { "\(Self.folder)/\(name).plist" }
    /// The folder of the lock.
    var lockFolder: String { "\(Self.folder)/keychain/signing-in/\(name)" }

    // MARK: Reading and writing

    /// The note as it is in the file now.
    ///
    /// - Throws: ``CredentialsError/Code/file``.
    func read() throws -> Note? {
        guard let data = try contents().values[key] as? Data else { return nil }
        return try? JSONDecoder().decode(Note.self, from: data)
    }

    /// Puts a note in the place of the one that is there; nil for none. Everything else in the file stays as it is,
    /// unless somebody else writes the file at the same moment. For callers that have the lock.
    ///
    /// - Throws: ``CredentialsError/Code/file``: then the note was not changed.
    func write(_ note: Note?) throws {
        var (values, format) = try contents()
        values[key] = note.flatMap { try? JSONEncoder().encode($0) }
        guard let bytes = try? PropertyListSerialization.data(fromPropertyList: values, format: format, options: 0)
        else {
            throw refused("have no form in bytes")
        }
        try replace(with: bytes)
        // Makes `UserDefaults` read the new file, and write the changes that it still holds.
        (suite.map { UserDefaults(suiteName: $0) } ?? .standard)?.synchronize()
        guard try read() == note else {
            throw CredentialsError(
                .file, message: "somebody else wrote the preferences at \(path) meanwhile; try again")
        }
    }

    private func contents() throws -> (
        values: [String: Any], format: PropertyListSerialization.PropertyListFormat
    ) {
        // UserDefaults writes the file in place: another process may be in the middle of it.
        for attempt in 0..<5 {
            if attempt > 0 { usleep(50_000) }
            var format = PropertyListSerialization.PropertyListFormat.xml
            guard let bytes = FileManager.default.contents(atPath: path) else {
                guard access(path, F_OK) != 0, errno == ENOENT || errno == ENOTDIR else {
                    throw refused("cannot be read")
                }
                return ([:], .xml)
            }
            if let list = try? PropertyListSerialization.propertyList(from: bytes, format: &format) as? [String: Any] {
                return (list, format)
            }
            // What a full disk leaves.
            if attempt == 4, bytes.isEmpty { return ([:], .xml) }
        }
        throw refused("are damaged; remove the file")
    }

    /// Replaces the file in one step, durably.
    private func replace(with bytes: Data) throws {
        do {
            try FileManager.default.createDirectory(
                atPath: Self.folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw refused("have no folder, and it cannot be made")
        }
        // A link stays one.
        let target = URL(filePath: path).resolvingSymlinksInPath().path
        let temporary = "\(target).\(getpid()).\(UInt64.random(in: 0 ... .max))"
        do throws(FileReplacement.Failure) {
            try FileReplacement.replace(target, by: temporary, with: bytes)
        } catch {
            throw refused(error.errno)
        }
        let folder = open(URL(filePath: target).deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }

    private func refused(_ code: Int32) -> CredentialsError {
        refused("cannot be written: " + String(cString: strerror(code)))
    }

    private func refused(_ what: String) -> CredentialsError {
        CredentialsError(.file, message: "the preferences at \(path) \(what); nothing was changed in them")
    }

    // MARK: Taking turns

    /// Runs `body` while no other process, and nobody else in this one, runs one for the same preferences.
    ///
    /// - Throws: ``CredentialsError/Code/busy`` when another keeps the lock for 30 seconds,
    ///   ``CredentialsError/Code/file`` when there cannot be one, and what `body` throws.
    func withLock<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try PrivateFolder(creating: lockFolder).withLock { try body() }
        } catch let error as FileError {
            if case .lockTimeout = error {
                throw CredentialsError(
                    .busy,
                    message: "another process of the app is signing somebody in or out; try again when it is done")
            }
            throw CredentialsError(
                .file,
                message:
                    "there can be no lock in \(lockFolder), which has to be a folder of this user alone; make its place writable"
            )
        }
    }
}
