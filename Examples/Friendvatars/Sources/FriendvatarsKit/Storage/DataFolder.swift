import Foundation
import Glibc

/// Where the app keeps what it keeps: a vault of its own, the database, and avatars.
public struct DataFolder: Sendable, Hashable {
    /// The folder.
    public let url: URL

    /// The folder, which is made if it is not there, for its owner alone, and the vault in it as the one that the process uses.
    ///
    /// - Parameter usesOwnVault: False where `KEYCHAIN_HOME`, or a test, says which vault to use.
    public init(_ url: URL, usesOwnVault: Bool = true) throws {
        self.url = url
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try Self.close(url)
        guard usesOwnVault else { return }
        // Before anything asks for the vault; a variable that is set goes before.
        setenv("KEYCHAIN_HOME", url.appending(path: "vault").path(percentEncoded: false), 0)
    }

    /// The folder that somebody has named, else the one in `FRIENDVATARS_DATA`, else `friendvatars-data` where the program was started.
    public static func location(named name: String?) -> URL {
        let variable = ProcessInfo.processInfo.environment["FRIENDVATARS_DATA"].flatMap { $0.isEmpty ? nil : $0 }
        return URL(fileURLWithPath: name ?? variable ?? "friendvatars-data")
    }

    /// The database of accounts, friends and sessions.
    var database: URL { url.appending(path: "friends.db") }
    /// Avatars that were fetched, in a folder for each account.
    var avatars: URL { url.appending(path: "avatars") }

    /// Makes sure that nobody else can look into a folder that was there before.
    private static func close(_ url: URL) throws {
        let path = url.path(percentEncoded: false)
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        defer { Glibc.close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_uid == geteuid() else {
            throw CocoaError(.fileReadNoPermission, userInfo: [NSFilePathErrorKey: path])
        }
        if status.st_mode & 0o077 != 0, fchmod(descriptor, 0o700) != 0 {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
    }
}
