import DatabasePages

/// What opens the pages of a SQLCipher file that is not empty, with room for them.
final class OpenCipher: PageRoom {
    let pages: CipherPages
    /// The last bytes of the sealed first page, which change whenever it is written, and its plaintext bytes 24..<40,
    /// in which SQLite sees whether anything changed.
    var firstPage: (seal: [UInt8], changes: (UInt64, UInt64))?

    init(_ pages: CipherPages) {
        self.pages = pages
        super.init(size: pages.format.pageSize)
    }

    func seal(
        _ page: UnsafeRawPointer, number: UInt32, into sealed: UnsafeMutableRawPointer
    ) throws(VFSFailure) {
        do throws(PageError) {
            try pages.seal(
                UnsafeRawBufferPointer(start: page, count: size), number: number,
                into: UnsafeMutableRawBufferPointer(start: sealed, count: size))
        } catch {
            throw .page(error)
        }
    }

    func open(
        _ sealed: UnsafeRawPointer, number: UInt32, into page: UnsafeMutableRawPointer
    ) throws(VFSFailure) {
        do throws(PageError) {
            try pages.open(
                UnsafeRawBufferPointer(start: sealed, count: size), number: number,
                into: UnsafeMutableRawBufferPointer(start: page, count: size))
        } catch {
            throw .page(error)
        }
    }
}
