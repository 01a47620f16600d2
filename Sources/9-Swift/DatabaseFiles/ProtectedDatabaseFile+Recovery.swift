import CLibrary
import DatabasePages
import DatabaseVFS
import VaultInterface

extension ProtectedDatabaseFile {
    /// Makes a database of one whose page index is lost, or is of another time than its file, as when the file alone
    /// was put back from a backup. The former is left as it is.
    ///
    /// Every page shows that it belongs to the database and to its place. Only the index could tell whether it is the
    /// latest version of itself. An attacker who can write to the file may have put an older one there; SQLite notices
    /// that where pages do not fit together.
    ///
    /// - Parameters:
    ///   - target: The file to make.
    ///   - key: Where the new database's key is kept; unless given, as that of the former.
    ///   - progress: Called now and then by the calling thread; returns whether to go on.
    /// - Throws: ``ProtectedDatabaseError/Code/busy`` while somebody uses the database,
    ///   ``ProtectedDatabaseError/Code/damaged`` if a page that is in use is damaged, or pages do not fit together,
    ///   ``ProtectedDatabaseError/Code/fileExists`` if there is anything with the name of `target`.
    public func recover(
        to target: ProtectedDatabaseFile, key: DatabaseKeyStorage? = nil,
        progress: (Progress) -> Bool = { _ in true }
    ) throws {
        let database = try header().database
        let keys = keys
        let found = try keys.find(database)
        let secret = try keys.read(found, of: database)
        guard !target.exists else { throw ProtectedDatabaseError("make", target.path, errno: EEXIST) }
        let copy = try EncryptedCopy(of: self, beside: target)
        let damaged = try ProtectedDatabaseError.translating(path) {
            try IndexRecovery.makeIndex(ofDatabase: copy.file.path, key: secret)
        }
        do {
            let source = try DatabaseSource(copy.file, try copy.file.register(secret))
            try source.requireIntegrity()
            let made = try NewDatabase(beside: target, key ?? found.storage)
            try made.fill(like: path) { new in
                try source.copy(to: new, like: target, progress: progress)
            }
            try made.publish(replacing: nil)
        } catch ProtectedDatabaseError.Code.damaged where !damaged.isEmpty {
            let pages = damaged.prefix(10).map(String.init).joined(separator: ", ")
            throw ProtectedDatabaseError(
                .damaged, path: path,
                message:
                    "damaged pages of \(path): \(damaged.count), the first of them \(pages); restore it from a backup")
        }
    }
}

/// The files of a database, but for its index, copied as they are: encrypted. They go with this value.
private final class EncryptedCopy {
    private let folder: String
    private let claim: MakingClaim
    let file: ProtectedDatabaseFile

    init(of file: ProtectedDatabaseFile, beside target: ProtectedDatabaseFile) throws {
        try Leftovers.remove(beside: target.path)
        folder = "\(target.path)-\(DatabaseID()).recovering"
        self.file = file.with(path: folder + "/" + Leftovers.copyName)
        guard let claim = MakingClaim(folder, creating: true) else {
            throw ProtectedDatabaseError("make", MakingClaim.path(folder), errno: errno)
        }
        self.claim = claim
        guard mkdir(folder, 0o700) == 0 else { throw ProtectedDatabaseError("make", folder, errno: errno) }
        try ProtectedDatabaseError.translating(file.path) {
            try RawCopy.make(ofDatabase: file.path, at: self.file.path)
        }
    }

    deinit {
        Leftovers.removeCopies(folder)
        claim.end(folder)
    }
}
