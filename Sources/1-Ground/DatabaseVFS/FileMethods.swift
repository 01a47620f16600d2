import Bytes
import CSQLite

// The method tables that SQLite uses to call files. Each table is for one kind of file, and the slot holds an object of
// that kind.

private func table(_ methods: sqlite3_io_methods) -> UnsafeMutablePointer<sqlite3_io_methods> {
    let table = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    table.initialize(to: methods)
    return table
}

@inline(__always)
private func answer(_ file: FileSlot.File?, _ body: (any VFSFile) throws(VFSFailure) -> Int32) -> Int32 {
    guard let file, let object = FileSlot(file: file).object else { return SQLITE_IOERR }
    return object.answer(try body(object))
}

@inline(__always)
private func with(_ file: FileSlot.File?, _ body: (DatabaseFile) -> Int32) -> Int32 {
    guard let file, let database = FileSlot(file: file).database else { return SQLITE_IOERR }
    return body(database)
}

/// Returns the methods that all files have.
private func sharedMethods() -> sqlite3_io_methods {
    var methods = sqlite3_io_methods()
    methods.xClose = { file in
        guard let file else { return SQLITE_OK }
        let slot = FileSlot(file: file)
        let code = slot.object?.close() ?? SQLITE_OK
        slot.release()
        return code
    }
    methods.xRead = { file, bytes, count, offset in
        answer(file) { (file) throws(VFSFailure) in try file.read(bytes, Int(count), at: offset) }
    }
    methods.xWrite = { file, bytes, count, offset in
        answer(file) { (file) throws(VFSFailure) in try file.write(bytes, Int(count), at: offset) }
    }
    methods.xTruncate = { file, size in
        answer(file) { (file) throws(VFSFailure) in try file.truncate(size) }
    }
    methods.xSync = { file, flags in
        answer(file) { (file) throws(VFSFailure) in try file.sync(flags) }
    }
    methods.xFileSize = { file, size in
        answer(file) { (file) throws(VFSFailure) in
            var bytes: Int64 = 0
            defer { size?.pointee = bytes }
            return try file.size(&bytes)
        }
    }
    methods.xSectorSize = { file in file.flatMap { FileSlot(file: $0).object?.sectorSize } ?? SQLITE_IOERR }
    methods.xDeviceCharacteristics = { file in
        file.flatMap { FileSlot(file: $0).object?.characteristics } ?? SQLITE_IOERR
    }
    return methods
}

/// The methods of databases.
// Safe to share between threads: one thread fills the table before the pointer is visible (a global is made once), and
// nothing writes to it or frees it afterwards. Its functions get the file of one connection, which SQLite uses from one
// thread at a time.
nonisolated(unsafe) let mainFileMethods: UnsafeMutablePointer<sqlite3_io_methods> = {
    var methods = sharedMethods()
    // Without xFetch, which would give SQLite the sealed bytes.
    methods.iVersion = 2
    // The most frequent call, without a look at the kind of the file.
    methods.xRead = { file, bytes, count, offset in
        guard let file, let database = FileSlot(file: file).mainDatabase else { return SQLITE_IOERR }
        return database.answerRead(bytes, Int(count), at: offset)
    }
    methods.xLock = { file, level in with(file) { $0.lock(level) } }
    methods.xUnlock = { file, level in with(file) { $0.unlock(level) } }
    methods.xCheckReservedLock = { file, result in
        with(file) { $0.file.inner.checkReservedLock(result) }
    }
    methods.xFileControl = { file, operation, argument in
        with(file) { $0.control(operation, argument) }
    }
    methods.xShmMap = { file, region, size, extend, address in
        with(file) { $0.mapShared(region, size, extend, address) }
    }
    methods.xShmLock = { file, offset, count, flags in
        with(file) { $0.lockShared(offset, count, flags) }
    }
    methods.xShmBarrier = { file in
        _ = with(file) {
            $0.placeBarrier()
            return SQLITE_OK
        }
    }
    methods.xShmUnmap = { file, remove in
        with(file) { $0.unmapShared(remove) }
    }
    return table(methods)
}()

/// The methods of files that are not databases. SQLite does not lock them.
// Safe to share between threads, like the table of databases: made once, never written to or freed afterwards.
nonisolated(unsafe) let sideFileMethods: UnsafeMutablePointer<sqlite3_io_methods> = {
    var methods = sharedMethods()
    methods.iVersion = 1
    methods.xLock = { _, _ in SQLITE_OK }
    methods.xUnlock = { _, _ in SQLITE_OK }
    methods.xCheckReservedLock = { _, result in
        result?.pointee = 0
        return SQLITE_OK
    }
    methods.xFileControl = { _, _, _ in SQLITE_NOTFOUND }
    return table(methods)
}()
