import Bytes
import CLibrary
import DatabasePages
import DatabaseVFS

/// What opens the pages of a SQLCipher file that is not empty, with room for them.
final class OpenCipher {
    let room: PageRoom
    let pages: CipherPages
    /// What is known of the first page. Its seal is the last bytes of the sealed page, which change whenever it is
    /// written.
    var firstPage: FirstPage<[UInt8]>?
    private let recent: RecentPages

    init(_ pages: CipherPages) {
        self.pages = pages
        room = PageRoom(size: pages.format.pageSize, reserved: pages.format.reserved)
        recent = RecentPages(size: room.size, reserved: room.reserved)
    }

    private var size: Int { room.size }

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
        recent.keep(page, number: number, sealed: sealed)
    }

    /// The two pages must not be the same memory.
    func open(
        _ sealed: UnsafeRawPointer, number: UInt32, into page: UnsafeMutableRawPointer
    ) throws(VFSFailure) {
        if recent.copy(number, sealed: sealed, to: page) { return }
        do throws(PageError) {
            try pages.open(
                UnsafeRawBufferPointer(start: sealed, count: size), number: number,
                into: UnsafeMutableRawBufferPointer(start: page, count: size))
        } catch {
            throw .page(error)
        }
        recent.keep(page, number: number, sealed: sealed)
    }
}

/// The pages that were sealed or opened last, as plaintext.
///
/// SQLite forgets all its pages when another connection has committed. This happens to the readers of a pool at each
/// commit of its writer. SQLite reads a few of the pages again at once, and opening one takes longer than the rest of a
/// small transaction. The seal, an initialization vector and an HMAC, tells whether a page is still the same.
private final class RecentPages {
    private static let byteCount = 1 << 18

    private let size: Int
    private let reserved: Int
    /// The number of the page in each slot; 0 for none.
    private var numbers: [UInt32]
    /// A page for each slot, then its seal.
    private let memory: UnsafeMutableRawPointer

    init(size: Int, reserved: Int) {
        (self.size, self.reserved) = (size, reserved)
        numbers = Array(repeating: 0, count: max(4, Self.byteCount / size))
        memory = .allocate(byteCount: numbers.count * (size + reserved), alignment: 64)
    }

    deinit {
        explicit_bzero(memory, numbers.count * (size + reserved))
        memory.deallocate()
    }

    private func place(_ index: Int) -> UnsafeMutableRawPointer { memory + index * (size + reserved) }

    func keep(_ page: UnsafeRawPointer, number: UInt32, sealed: UnsafeRawPointer) {
        let index = Int(number) % numbers.count
        numbers[index] = number
        memcpy(place(index), page, size)
        memcpy(place(index) + size, sealed + (size - reserved), reserved)
    }

    /// Copies a page if it is there with the same seal.
    func copy(_ number: UInt32, sealed: UnsafeRawPointer, to page: UnsafeMutableRawPointer) -> Bool {
        let index = Int(number) % numbers.count
        guard numbers[index] == number,
            memcmp(place(index) + size, sealed + (size - reserved), reserved) == 0
        else { return false }
        memcpy(page, place(index), size)
        return true
    }
}
