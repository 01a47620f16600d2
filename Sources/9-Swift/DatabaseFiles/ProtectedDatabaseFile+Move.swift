import CLibrary
import DataProtectionEssentials
import DatabasePages
import SystemLibraries

extension ProtectedDatabaseFile {
    /// Gives the database another name, with its page index and its key file, which carry its name.
    ///
    /// At every moment one of the names opens: the files beside the database have both names while it gets the new one.
    /// If a move was interrupted, or another program renamed the database's file alone, the same call finishes it.
    /// Nobody else may have the database open.
    ///
    /// - Parameter target: The new name, in the same file system.
    /// - Throws: ``ProtectedDatabaseError/Code/fileExists`` if there is anything with that name,
    ///   ``ProtectedDatabaseError/Code/busy`` while another program uses the database.
    package func move(to target: ProtectedDatabaseFile) throws {
        let isRenamed = !exists && target.exists
        let database = try (isRenamed ? target : self).header().database
        guard isRenamed || !target.exists else {
            throw ProtectedDatabaseError(
                .fileExists, path: target.path, message: "\(target.path) exists already: choose another name")
        }
        let (from, to) = (companions(of: database), target.companions(of: database))
        guard !isRenamed || access(from[0], F_OK) == 0 else {
            throw ProtectedDatabaseError(
                .fileNotFound, path: path,
                message: "there is neither \(path) nor \(from[0]), its page index"
                    + (access(to[0], F_OK) == 0 ? "; \(target.path) has its index: nothing is left to do" : ""))
        }
        try checkLogs(target, isRenamed: isRenamed)
        let source = isRenamed ? nil : try DatabaseSource(self, try claim().0)
        try withExtendedLifetime(source) {
            var linked: [String] = []
            do {
                for (former, new) in zip(from, to) where try Self.link(former, new) { linked.append(new) }
                try DurableFile.synchronizeFolder(of: target.path)
                if !isRenamed { try rename(to: target.path) }
            } catch {
                for path in linked { unlink(path) }
                throw error
            }
            try DurableFile.synchronizeFolder(of: target.path)
            // The index goes last: while it has the former name, the same call still finishes.
            for path in from.reversed() { unlink(path) }
        }
        try DurableFile.synchronizeFolder(of: path)
    }

    /// SQLite finds a log by the database's name: without its log, the database would lose what was committed last, and
    /// with another one's it would be damaged.
    private func checkLogs(_ target: ProtectedDatabaseFile, isRenamed: Bool) throws {
        let logs = ["-wal", "-journal"]
        if isRenamed, let log = logs.map({ path + $0 }).first(where: { access($0, F_OK) == 0 }) {
            throw ProtectedDatabaseError(
                .invalidRequest, path: target.path,
                message: "\(log) belongs to the database: rename \(target.path) back to \(path), and then use "
                    + "`keychain db move`")
        }
        // One that was renamed together with its log keeps it.
        guard !isRenamed, let log = logs.map({ target.path + $0 }).first(where: { access($0, F_OK) == 0 }) else {
            return
        }
        throw ProtectedDatabaseError(
            .fileExists, path: target.path, message: "\(log) of another database is there: choose another name")
    }

    /// The files that carry the name of the database: its page index and its key file.
    private func companions(of database: DatabaseID) -> [String] {
        [PageIndex.path(ofDatabase: path, database), keys.keyFile(of: database).path]
    }

    /// Gives a file another name beside its own.
    ///
    /// - Returns: False for a file that is not there, or that has both names already.
    private static func link(_ former: String, _ new: String) throws -> Bool {
        guard CLibrary.link(former, new) != 0 else { return true }
        let code = errno
        var (first, second) = (stat(), stat())
        if code == ENOENT, lstat(former, &first) != 0, errno == ENOENT { return false }
        if code == EEXIST, lstat(former, &first) == 0, lstat(new, &second) == 0, first.st_dev == second.st_dev,
            first.st_ino == second.st_ino
        {
            return false
        }
        throw failure(code, former, new)
    }

    private typealias Rename =
        @convention(c) (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32) -> Int32

    private func rename(to target: String) throws {
        // The header declares it only for programs that ask for GNU's extensions.
        guard let rename: Rename = libraryFunction("renameat2") else {
            throw Self.failure(ENOSYS, path, target)
        }
        // RENAME_NOREPLACE (linux/fs.h): never over another file, also if one gets the name meanwhile.
        guard rename(AT_FDCWD, path, AT_FDCWD, target, 1) != 0 else { return }
        throw Self.failure(errno, path, target)
    }

    private static func failure(_ code: Int32, _ former: String, _ new: String) -> ProtectedDatabaseError {
        guard code == EXDEV else { return ProtectedDatabaseError("move \(former) to", new, errno: code) }
        return ProtectedDatabaseError(
            .invalidRequest, path: former,
            message: "\(new) is on another file system: copy all files whose names begin with \(former), while no "
                + "program has the database open")
    }

    /// Returns the name, in the same folder, that a database had when it was with its page index; nil if the folder
    /// does not tell.
    ///
    /// - Parameter index: The index that is missing.
    static func formerName(ofIndex index: String) -> String? {
        let (folder, name) = Leftovers.split(index)
        // -ID.pages
        let ending = String(name.suffix(2 * DatabaseID.byteCount + 7))
        guard ending.hasPrefix("-"), ending.hasSuffix(".pages"), let stream = opendir(folder) else { return nil }
        defer { closedir(stream) }
        var found: [String] = []
        while let entry = readdir(stream) {
            let other = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard other.hasSuffix(ending), other != name else { continue }
            found.append(String(other.dropLast(ending.count)))
        }
        // A copy beside the original has no index of its own, and must not get that of the original.
        let prefix = index.dropLast(name.count)
        guard found.count == 1, access(prefix + found[0], F_OK) != 0 else { return nil }
        return found[0]
    }
}
