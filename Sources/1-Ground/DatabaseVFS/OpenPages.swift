import CLibrary
import DatabasePages

/// Room for the pages of a database.
class PageRoom {
    /// The size of a page in bytes.
    let size: Int
    /// Room for a sealed page with the bytes before and after it in a log or journal. Only the holder of the file's
    /// lock uses it.
    let scratch: UnsafeMutableRawPointer
    /// Room for a plaintext page.
    let clear: UnsafeMutableRawPointer

    private static let room = 64

    init(size: Int) {
        self.size = size
        scratch = .allocate(byteCount: size + Self.room, alignment: 64)
        clear = .allocate(byteCount: size + Self.room, alignment: 64)
        memset(scratch, 0, size + Self.room)
        memset(clear, 0, size + Self.room)
    }

    deinit {
        explicit_bzero(clear, size + Self.room)
        scratch.deallocate()
        clear.deallocate()
    }
}

/// The cipher and index of a database that is not empty, with room for its pages.
final class OpenPages: PageRoom {
    let cipher: PageCipher
    let index: PageIndex
    /// Whether the index was read since the present transaction began.
    var indexIsFresh = false
    /// Whether the file was cut since the last flush.
    var wereCut = false
    /// The version of the first page, and its bytes 24..<40, in which SQLite sees whether anything changed.
    var firstPage: (version: PageVersion, changes: (UInt64, UInt64))?

    init(cipher: PageCipher, index: PageIndex) {
        (self.cipher, self.index) = (cipher, index)
        super.init(size: cipher.pageSize)
    }

    func seal(
        _ page: UnsafeRawPointer, extra: UInt64, at place: PagePlace, into sealed: UnsafeMutableRawPointer
    ) throws(VFSFailure) -> PageVersion {
        do throws(PageError) {
            return try cipher.seal(
                UnsafeRawBufferPointer(start: page, count: size), extra: extra, at: place,
                into: UnsafeMutableRawBufferPointer(start: sealed, count: size))
        } catch {
            throw .page(error)
        }
    }

    /// Opens a page and returns the eight extra bytes of its seal.
    @discardableResult
    func open(
        _ sealed: UnsafeRawPointer, at place: PagePlace, into page: UnsafeMutableRawPointer
    ) throws(VFSFailure) -> UInt64 {
        do throws(PageError) {
            return try cipher.open(
                UnsafeRawBufferPointer(start: sealed, count: size), at: place,
                into: UnsafeMutableRawBufferPointer(start: page, count: size)
            ).extra
        } catch {
            throw .page(error)
        }
    }

    func version(of sealed: UnsafeRawPointer) -> PageVersion {
        PageCipher.version(of: UnsafeRawBufferPointer(start: sealed, count: size))
    }

    func refresh() throws(VFSFailure) {
        do throws(PageIndexError) {
            try index.refresh()
            indexIsFresh = true
        } catch {
            throw .index(error)
        }
    }

    func refreshOnce() throws(VFSFailure) {
        guard !indexIsFresh else { return }
        do throws(PageIndexError) {
            try index.refreshIfLonger()
            indexIsFresh = true
        } catch {
            throw .index(error)
        }
    }

    func note(_ version: PageVersion, of page: UInt32) throws(VFSFailure) {
        do throws(PageIndexError) { try index.set(version, of: page) } catch { throw .index(error) }
    }

    func flush(pageCount: UInt32?, walFrames: UInt32 = 0, durably: Bool) throws(VFSFailure) {
        do throws(PageIndexError) {
            try index.flush(pageCount: pageCount, walFrames: walFrames, durably: durably)
        } catch {
            throw .index(error)
        }
    }

    func noteLogBegins(salts: UInt64, over former: UInt64) throws(VFSFailure) {
        do throws(PageIndexError) { try index.beginWAL(salts: salts, over: former) } catch { throw .index(error) }
    }

    func noteLogEnds() throws(VFSFailure) {
        do throws(PageIndexError) { try index.endWAL() } catch { throw .index(error) }
    }
}

/// Reads and writes of all of `count` bytes, except those behind the end of the file.
enum WholeAccess {
    static func read(
        _ descriptor: Int32, _ bytes: UnsafeMutableRawPointer, _ count: Int, at offset: Int64
    ) -> Int {
        SystemCall.readAll(
            into: UnsafeMutableRawBufferPointer(start: bytes, count: count), from: descriptor, at: offset)
    }

    static func write(
        _ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int, at offset: Int64
    ) -> Bool {
        SystemCall.writeAll(UnsafeRawBufferPointer(start: bytes, count: count), to: descriptor, at: offset)
    }
}
