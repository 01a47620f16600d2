import CLibrary
import DataProtectionEssentials
import DatabasePages

/// What processes leave beside a database that end while they make its successor.
enum Leftovers {
    /// Removes unfinished databases that nobody is making any more, with their keys left in the keychain's care.
    ///
    /// Each is locked by its maker for as long as it is being made. What files are called decides about files alone: a
    /// key goes if the keychain says that its database was not finished.
    static func remove(beside path: String) throws {
        let (folder, name) = split(path)
        guard let stream = opendir(folder) else { return }
        defer { closedir(stream) }
        var (encrypted, files, copied) = (Set<DatabaseID>(), Set<String>(), Set<DatabaseID>())
        while let entry = readdir(stream) {
            let found = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard found.hasPrefix(name + "-") else { continue }
            let rest = found.dropFirst(name.count + 1)
            guard let id = DatabaseID(hexadecimal: rest.prefix(2 * DatabaseID.byteCount)) else { continue }
            let ending = rest.dropFirst(2 * DatabaseID.byteCount)
            if ending.hasPrefix(".new") { encrypted.insert(id) }
            for fileEnding in [plainEnding, cipherEnding] where ending.hasPrefix(fileEnding) {
                files.insert("\(path)-\(id)\(fileEnding)")
            }
            if ending.hasPrefix(".recovering") { copied.insert(id) }
        }
        let present = try? ProtectedDatabaseFile.header(of: path).database
        for name in files { removeFile(name) }
        for id in copied {
            let folder = "\(path)-\(id).recovering"
            guard let claim = MakingClaim(folder, creating: false) else { continue }
            removeCopies(folder)
            claim.end(folder)
        }
        for id in encrypted { removeEncrypted(id, beside: path, isPresent: id == present) }
    }

    /// The ends of the names of unfinished plain databases and SQLCipher files.
    static let plainEnding = ".plain"
    static let cipherEnding = ".sqlcipher"

    private static func removeFile(_ temporary: String) {
        guard let claim = MakingClaim(temporary, creating: false) else { return }
        unlinkFile(temporary)
        claim.end(temporary)
    }

    /// Removes an unfinished plain database or SQLCipher file.
    static func unlinkFile(_ temporary: String) {
        for suffix in ["-journal", "-wal", "-shm", ""] { unlink(temporary + suffix) }
    }

    /// What the copy of a database's file is called in a folder that a recovery makes.
    static let copyName = "database"

    /// Removes the folder of a recovery. Links are not followed, and what somebody else put there is left alone.
    static func removeCopies(_ folder: String) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        guard let stream = fdopendir(descriptor) else {
            close(descriptor)
            return
        }
        var names: [[CChar]] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                bytes.prefix { $0 != 0 }.map { CChar(bitPattern: $0) } + [0]
            }
            if name.starts(with: copyName.utf8CString.dropLast()) { names.append(name) }
        }
        for name in names { unlinkat(descriptor, name, 0) }
        closedir(stream)
        rmdir(folder)
    }

    private static func removeEncrypted(_ id: DatabaseID, beside path: String, isPresent: Bool) {
        let temporary = "\(path)-\(id).new"
        let keys = DatabaseKeys(path: path)
        guard let claim = MakingClaim(temporary, creating: false) else { return }
        // Its maker was about to take its claim away where the name is in use.
        if isPresent || isInPlace(temporary, path) {
            unlinkAll(of: temporary, id)
            return claim.end(temporary)
        }
        do {
            let isUnfinished = try keys.isUnfinished(id)
            if isUnfinished || access(temporary, F_OK) == 0 {
                unlink(PageIndex.path(ofDatabase: path, id))
                unlink(keys.keyFile(of: id).path)
            }
            unlinkAll(of: temporary, id)
            if isUnfinished {
                try keys.removeIfThere(id)
                try keys.noteFinished(id)
            }
            claim.end(temporary)
        } catch {
            // For the next one to come.
            claim.release()
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
            PageIndex.path(ofDatabase: temporary, database), temporary,
        ] { unlink(name) }
    }

    static func split(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return (".", path) }
        let folder = slash == path.startIndex ? "/" : String(path[..<slash])
        return (folder, String(path[path.index(after: slash)...]))
    }
}
