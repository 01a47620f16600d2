import DatabasePages
import Foundation
import Glibc

/// What processes leave beside a database that end while they make its successor.
enum Leftovers {
    /// Removes unfinished databases that nobody is making any more, with their keys left in the keychain's care.
    ///
    /// Each is locked by its maker for as long as it is being made.
    static func remove(beside path: String) throws(ProtectedDatabaseError) {
        let (folder, name) = split(path)
        guard let stream = opendir(folder) else { return }
        defer { closedir(stream) }
        var ids: [DatabaseID] = []
        while let entry = readdir(stream) {
            let found = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard found.hasPrefix(name + "-"), found.hasSuffix(".new"),
                let id = DatabaseID(hexadecimal: found.dropFirst(name.count + 1).dropLast(4))
            else { continue }
            ids.append(id)
        }
        for id in ids {
            let temporary = "\(path)-\(id).new"
            guard let claim = MakingClaim(temporary, creating: false) else { continue }
            defer { claim.release() }
            // Its maker was about to take its claim away: the name is in use.
            guard !isInPlace(temporary, path) else {
                unlink(temporary)
                continue
            }
            unlinkAll(of: temporary, id)
            unlink(PageIndex.path(ofDatabase: path, id))
            let keys = DatabaseKeys(path: path)
            // Somebody else's key, or none: it is no use to anybody.
            if let found = try? keys.find(id) { try? keys.remove(found) }
        }
    }

    /// Whether the database is in its place already, and has two names for the moment.
    private static func isInPlace(_ temporary: String, _ path: String) -> Bool {
        var (one, other) = (stat(), stat())
        return stat(temporary, &one) == 0 && stat(path, &other) == 0 && one.st_ino == other.st_ino
            && one.st_dev == other.st_dev
    }

    /// Removes an unfinished database.
    static func unlinkAll(of temporary: String, _ database: DatabaseID) {
        for name in [
            temporary + "-wal", temporary + "-shm", temporary + "-journal",
            PageIndex.path(ofDatabase: temporary, database), temporary, MakingClaim.path(temporary),
        ] { unlink(name) }
    }

    static func split(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return (".", path) }
        let folder = slash == path.startIndex ? "/" : String(path[..<slash])
        return (folder, String(path[path.index(after: slash)...]))
    }
}
