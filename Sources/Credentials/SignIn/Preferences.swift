import Foundation
import PrivateFiles

/// The note of who is signed in, in the preferences of the program.
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
        let variables = ProcessInfo.processInfo.environment
        if let folder = variables["XDG_CONFIG_HOME"], folder.hasPrefix("/") { return folder }
        let home = variables["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? NSHomeDirectory()
        return home + "/.config"
    }

    private var name: String { suite ?? Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName }

    var path: String { "\(Self.folder)/\(name).plist" }
    /// The folder of the lock.
    var lockFolder: String { "\(Self.folder)/keychain/signing-in/\(name)" }

    // MARK: Reading and writing

    /// The note as it is in the file now.
    func read() throws(CredentialsError) -> Note? {
        // Another process may have written it.
        defaults?.synchronize()
        guard let data = defaults?.data(forKey: key) else { return nil }
        return try? JSONDecoder().decode(Note.self, from: data)
    }

    /// Puts a note in the place of the one that is there; nil for none. For callers that have the lock.
    func write(_ note: Note?) throws(CredentialsError) {
        if let note, let data = try? JSONEncoder().encode(note) {
            defaults?.set(data, forKey: key)
        } else {
            defaults?.removeObject(forKey: key)
        }
        defaults?.synchronize()
    }

    private var defaults: UserDefaults? { suite.map { UserDefaults(suiteName: $0) } ?? .standard }

    // MARK: Taking turns

    /// Runs `body` while no other process, and nobody else in this one, runs one for the same preferences.
    ///
    /// - Throws: ``CredentialsError/Code/busy`` when another keeps the lock for 30 seconds, ``CredentialsError/Code/file`` when
    ///   there cannot be one, and what `body` throws.
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
