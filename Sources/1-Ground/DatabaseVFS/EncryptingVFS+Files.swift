import CLibrary
import CSQLite

/// The flags of files without a name.
private let temporaryFiles =
    SQLITE_OPEN_TEMP_DB | SQLITE_OPEN_TRANSIENT_DB | SQLITE_OPEN_TEMP_JOURNAL | SQLITE_OPEN_SUBJOURNAL

extension EncryptingVFS {
    /// Opens a file (xOpen).
    static func openFile(
        _ name: UnsafePointer<CChar>?, _ file: FileSlot.File?, _ flags: Int32, _ outFlags: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        guard let file, let system = systemVFS, let openSystemFile = system.pointee.xOpen else {
            return SQLITE_CANTOPEN
        }
        // Nil tells SQLite that there is nothing to close.
        file.pointee.pMethods = nil
        let slot = FileSlot(file: file)
        guard let name, flags & temporaryFiles == 0 else {
            slot.put(MemoryFile(), methods: sideFileMethods)
            outFlags?.pointee = flags
            return SQLITE_OK
        }
        func openAsIs() -> Int32 { openSystemFile(system, name, file, flags, outFlags) }

        // Files of a plain database, and the list of files in a transaction, open unchanged.
        if flags & SQLITE_OPEN_SUPER_JOURNAL != 0 { return openAsIs() }
        if flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL) != 0 {
            guard let main = sqlite3_database_file_object(name) else { return SQLITE_CANTOPEN }
            guard let database = FileSlot(file: main).database else { return openAsIs() }
            return openSideFile(of: database, name, slot, flags, outFlags)
        }
        guard flags & SQLITE_OPEN_MAIN_DB != 0, let place = RegisteredPlaces.shared[String(cString: name)] else {
            return SQLITE_CANTOPEN
        }
        switch place.contents {
        case .plain: return openAsIs()
        case nil:
            place.note(.revoked(path: place.path))
            return SQLiteCode.ioAuthorization
        case .formed(let form): return openMainFile(at: place, form, name, slot, flags, outFlags)
        }
    }

    /// Opens the system's file below one of ours.
    ///
    /// - Returns: SQLite's code, and whether the file is open for writing.
    private static func openInner(
        of place: RegisteredPlace, _ name: UnsafePointer<CChar>, _ slot: FileSlot, _ flags: Int32,
        _ outFlags: UnsafeMutablePointer<Int32>?
    ) -> (code: Int32, isWritable: Bool) {
        guard let system = systemVFS, let open = system.pointee.xOpen else { return (SQLITE_CANTOPEN, false) }
        var given = flags
        slot.inner.pointee.pMethods = nil
        errno = 0
        let code = open(system, name, slot.inner, flags, &given)
        guard code == SQLITE_OK else {
            if let failure = scarcity(name) { place.note(failure) }
            return (code, false)
        }
        outFlags?.pointee = given
        return (SQLITE_OK, given & SQLITE_OPEN_READONLY == 0)
    }

    /// Opens the log or the journal of a database.
    private static func openSideFile(
        of main: DatabaseFile, _ name: UnsafePointer<CChar>, _ slot: FileSlot, _ flags: Int32,
        _ outFlags: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        let isLog = flags & SQLITE_OPEN_WAL != 0
        // SQLite would wait for the other end of a pipe.
        var information = stat()
        guard lstat(name, &information) != 0 || information.st_mode & S_IFMT == S_IFREG else {
            let path = String(cString: name)
            return main.failed(isLog ? .foreignLog(path: path) : .foreignJournal(path: path))
        }
        let (code, isWritable) = openInner(of: main.file.place, name, slot, flags, outFlags)
        guard code == SQLITE_OK else { return code }
        guard isLog else {
            slot.put(JournalFile(inner: slot.inner, main: main, name: name), methods: sideFileMethods)
            return SQLITE_OK
        }
        do throws(VFSFailure) {
            slot.put(try main.openLog(slot.inner, name, writing: isWritable), methods: sideFileMethods)
            return SQLITE_OK
        } catch {
            _ = slot.inner.close()
            return main.failed(error)
        }
    }

    /// Opens a database.
    private static func openMainFile(
        at place: RegisteredPlace, _ form: any PageForm, _ name: UnsafePointer<CChar>, _ slot: FileSlot, _ flags: Int32,
        _ outFlags: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        let (code, isWritable) = openInner(of: place, name, slot, flags, outFlags)
        guard code == SQLITE_OK else { return code }
        do throws(VFSFailure) {
            let file = try OpenFile(inner: slot.inner, place: place, isWritable: isWritable)
            let main = DatabaseFile(file, form: form, name: name)
            let code = main.answer(try main.check())
            if code == SQLITE_OK { slot.put(main, methods: mainFileMethods) } else { _ = main.close() }
            return code
        } catch {
            _ = slot.inner.close()
            place.note(error)
            return error.code
        }
    }

    /// Returns the failure if a resource is missing; SQLite's own code would suggest missing permissions.
    private static func scarcity(_ name: UnsafePointer<CChar>) -> VFSFailure? {
        switch errno {
        case EMFILE, ENFILE, ENOMEM, EIO, ENOSPC, EDQUOT: .system("open", String(cString: name))
        default: nil
        }
    }

    /// Removes a file (xDelete), after its database has recorded that it is no longer needed.
    static func deleteFile(_ name: UnsafePointer<CChar>?, _ syncFolder: Int32) -> Int32 {
        guard let name, let system = systemVFS else { return SQLiteCode.ioDelete }
        for main in OpenFiles.shared.files(removing: name) {
            let code = main.willRemove(name)
            guard code == SQLITE_OK else { return code }
        }
        return system.pointee.xDelete?(system, name, syncFolder) ?? SQLiteCode.ioDelete
    }
}
