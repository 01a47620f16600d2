import Foundation
import Glibc

/// Where the app keeps what it keeps: a vault of its own, the database, and avatars.
public struct DataFolder: Sendable, Hashable {
    /// The folder.
    public let url: URL

    /// The folder, which is made if it is not there, for its owner alone, and the vault in it as the one that the
    /// process uses.
    ///
    /// - Parameter usesOwnVault: False where a test says which vault to use.
    /// - Throws: ``DataFolderFailure``.
    public init(_ url: URL, usesOwnVault: Bool = true) throws(DataFolderFailure) {
        self.url = url
        do {
            try FileManager.default.createDirectory(
                at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw DataFolderFailure(url, "cannot be made (\(error.localizedDescription))")
        }
        try Self.close(url)
        guard usesOwnVault else { return }
        // Before anything asks for the vault. A vault that the person has elsewhere is not meant.
        setenv("KEYCHAIN_HOME", url.appending(path: "vault").path(percentEncoded: false), 1)
    }

    /// The folder that somebody has named, else the one in `FRIENDVATARS_DATA`, else `friendvatars-data` where the
    /// program was started.
    public static func location(named name: String?) -> URL {
        let variable = ProcessInfo.processInfo.environment["FRIENDVATARS_DATA"].flatMap { $0.isEmpty ? nil : $0 }
        return URL(fileURLWithPath: name ?? variable ?? "friendvatars-data")
    }

    /// The database of accounts, friends and sessions.
    var database: URL { url.appending(path: "friends.db") }
    /// Avatars that were fetched, in a folder for each account.
    var avatars: URL { url.appending(path: "avatars") }

    /// Makes sure that nobody else can look into a folder that was there before.
    private static func close(_ url: URL) throws(DataFolderFailure) {
        let descriptor = open(url.path(percentEncoded: false), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw DataFolderFailure(url, errno) }
        defer { Glibc.close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw DataFolderFailure(url, errno) }
        guard status.st_uid == geteuid() else { throw DataFolderFailure(url, "belongs to another user") }
        if status.st_mode & 0o077 != 0, fchmod(descriptor, 0o700) != 0 { throw DataFolderFailure(url, errno) }
    }
}

/// Why a folder cannot be used.
public struct DataFolderFailure: Error, Sendable, CustomStringConvertible {
    /// What happened, and what to do.
    public let description: String

    init(_ url: URL, _ reason: String) {
        description =
            "The folder \(printable(url.path(percentEncoded: false))) \(reason); choose another one with --data."
    }

    init(_ url: URL, _ code: Int32) {
        self.init(url, "cannot be used (\(String(cString: strerror(code))))")
    }
}
