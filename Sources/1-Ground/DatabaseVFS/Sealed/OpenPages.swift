import DatabasePages

/// The cipher and index of a database that is not empty, with room for its pages.
final class OpenPages {
    let room: PageRoom
    let cipher: PageCipher
    let index: PageIndex
    /// Whether the index was read since the present transaction began.
    var indexIsFresh = false
    /// Whether the file was cut since the last flush.
    var wereCut = false
    var firstPage: FirstPage<PageVersion>?

    init(cipher: PageCipher, index: PageIndex) {
        (self.cipher, self.index) = (cipher, index)
        room = PageRoom(size: cipher.pageSize, reserved: PageGeometry.reserved)
    }

    var size: Int { room.size }

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
