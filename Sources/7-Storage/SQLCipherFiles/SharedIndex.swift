import Bytes
import CLibrary
import DatabaseVFS
import Synchronization
import SystemLibraries

/// The shared index of a log, as this connection maps it (https://sqlite.org/walformat.html, 2).
///
/// Numbers are in the machine's byte order. The header is there twice. A reader that finds different copies waits for
/// the writer, or makes the index anew if there is none.
struct SharedIndex {
    /// The parts as SQLite sees them.
    private var regions: [UnsafeMutableRawPointer?] = []
    private var front: IndexFront?

    /// Returns the memory that SQLite gets for a part of the index; nil if there is no memory.
    mutating func map(_ region: Int32, at address: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        let region = Int(region)
        if region >= regions.count {
            regions += [UnsafeMutableRawPointer?](repeating: nil, count: region + 1 - regions.count)
        }
        if region == 0, front?.shared != address { front = IndexFront(of: address) }
        regions[region] = region == 0 ? front?.view : address
        return regions[region]
    }

    /// Returns the page in a frame; nil if that part of the index is not mapped.
    func page(inFrame frame: UInt32) -> UInt32? {
        let index = Int(frame) - 1
        let (region, place) =
            index < IndexPart.firstNumbers
            ? (0, IndexPart.start + 4 * index)
            : (
                1 + (index - IndexPart.firstNumbers) / IndexPart.numbers,
                4 * ((index - IndexPart.firstNumbers) % IndexPart.numbers)
            )
        guard region < regions.count, let address = regions[region] else { return nil }
        return address.load(fromByteOffset: place, as: UInt32.self)
    }

    /// Brings what SQLite wrote to the other connections, and what they wrote to SQLite; see ``IndexFront``.
    ///
    /// - Parameter stored: Returns the salts and the checksum of a frame in the log.
    /// - Returns: Whether SQLite gets another header.
    func merge(_ stored: (UInt32, _ pageSize: Int) -> (salts: UInt64, checksum: LogChecksum)?) -> Bool {
        front?.merge(stored) ?? false
    }

    /// Brings all page numbers to SQLite, which is about to write some; see ``IndexFront``.
    func beginWriting() { front?.beginWriting() }

    /// Returns the salts and the checksum of the last frame for other connections, if this is the last one.
    func lastFrame(_ frame: UInt32) -> (salts: UInt64, checksum: LogChecksum)? { front?.lastFrame(frame) }
}

/// Places in the shared index.
private enum IndexPart {
    /// The size of each part.
    static let size = 32_768
    /// The size of one copy of the header.
    static let header = 48
    // Offsets in the header.
    static let pageSize = 14
    static let lastFrame = 16
    static let frameChecksum = 24
    static let salts = 32
    static let ownChecksum = 40
    /// After both headers come numbers of four bytes: how many frames are in the file, and the marks of readers.
    static let counters = 2 * header
    static let backfilled = counters
    /// The bytes before the page numbers in the first part.
    static let start = 136
    /// The page numbers in a part, and in the first one.
    static let numbers = 4096
    static let firstNumbers = numbers - start / 4
}

/// The start of the shared index in private memory, for SQLite's eyes alone.
///
/// In the header is the checksum of the last frame. SQLite computes it over plaintext, and other connections need the
/// one over sealed pages, because they continue the log from there. If SQLite found the other checksum there, it would
/// take its own commit for another connection's, and forget its page cache. So it reads and writes a header of its own.
/// ``merge(_:)`` brings what SQLite has written to the shared memory, with the right checksum, and what others have
/// written to SQLite: at each memory barrier of SQLite, and before and after each change of a lock.
///
/// This is enough, because SQLite relies on the start of the index only under a lock, with two exceptions. First, it
/// reads one copy of the header, calls a barrier, and reads the other copy. If others have written meanwhile, the two
/// differ, and SQLite reads both again. It checks them once more when it has its lock. Second, a writer that ended
/// without a commit leaves page numbers after the last frame. The next writer finds a number there and removes all that
/// was left. Here such numbers are private, but not those after the first page of memory. Those would be removed in the
/// middle of a later commit, together with its own. So ``beginWriting()`` leaves a number after the last frame in the
/// shared memory, which stays there unless the writer commits.
///
/// Each number has one writer at a time, which holds a lock for it: a number that SQLite has changed since the last
/// merging is the newer one.
///
/// Only the pages of memory from the start to the first page boundary are private. The rest is the shared memory.
private final class IndexFront {
    let shared: UnsafeMutableRawPointer
    /// The part as SQLite sees it.
    let view: UnsafeMutableRawPointer
    /// How many bytes of it are private.
    private let count: Int
    /// What was in the shared memory before the page numbers, at the last merging.
    private let known: UnsafeMutableRawPointer
    /// SQLite's header at the last merging.
    private let ownHeader: UnsafeMutableRawPointer
    /// Whether the header in ``known`` has the checksum of the sealed frame.
    private var isMended = true

    private typealias Map = @convention(c) (UnsafeMutableRawPointer, Int, Int, Int32) -> UnsafeMutableRawPointer?

    /// Nil if there is no memory.
    init?(of shared: UnsafeMutableRawPointer) {
        guard let (view, count) = Self.mapAgain(shared) ?? Self.mapPrivate() else { return nil }
        (self.shared, self.view, self.count) = (shared, view, count)
        known = .allocate(byteCount: IndexPart.start + IndexPart.header, alignment: 8)
        ownHeader = known + IndexPart.start
        takeHeader()
        memcpy(view + IndexPart.counters, shared + IndexPart.counters, IndexPart.start - IndexPart.counters)
        memcpy(known, view, IndexPart.start)
    }

    deinit {
        munmap(view, IndexPart.size)
        known.deallocate()
    }

    /// Maps the same memory once more, except for the first page. Nil if the system cannot.
    private static func mapAgain(_ shared: UnsafeMutableRawPointer) -> (UnsafeMutableRawPointer, Int)? {
        let page = Int(sysconf(Int32(clamping: _SC_PAGESIZE)))
        // An old size of 0 leaves the former mapping in place (mremap(2)).
        guard page <= IndexPart.size / 2, Int(bitPattern: shared) % page == 0,
            let map: Map = libraryFunction("mremap"),
            let view = map(shared, 0, IndexPart.size, 1), view != MAP_FAILED
        else { return nil }
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED
        guard mmap(view, page, PROT_READ | PROT_WRITE, flags, -1, 0) == view else {
            munmap(view, IndexPart.size)
            return nil
        }
        return (view, page)
    }

    private static func mapPrivate() -> (UnsafeMutableRawPointer, Int)? {
        let view = mmap(nil, IndexPart.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let view, view != MAP_FAILED else { return nil }
        return (view, IndexPart.size)
    }

    // MARK: Merging

    func merge(_ stored: (UInt32, Int) -> (salts: UInt64, checksum: LogChecksum)?) -> Bool {
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        var isNew = false
        // SQLite writes the second copy first, and a barrier follows.
        if memcmp(view + IndexPart.header, ownHeader, IndexPart.header) != 0 {
            publishHeader(stored)
        } else if memcmp(shared, known, 2 * IndexPart.header) != 0 {
            takeHeader()
            isNew = true
        }
        for place in stride(from: IndexPart.counters, to: IndexPart.start, by: 4) {
            let (own, last) = (number(view, place), number(known, place))
            let present = own != last ? own : number(shared, place)
            guard present != last else { continue }
            (own != last ? shared : view).storeBytes(of: present, toByteOffset: place, as: UInt32.self)
            known.storeBytes(of: present, toByteOffset: place, as: UInt32.self)
        }
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        return isNew
    }

    private func number(_ memory: UnsafeRawPointer, _ place: Int) -> UInt32 {
        memory.load(fromByteOffset: place, as: UInt32.self)
    }

    /// Copies the page numbers first: who sees the header may rely on them.
    private func publishHeader(_ stored: (UInt32, Int) -> (salts: UInt64, checksum: LogChecksum)?) {
        memcpy(ownHeader, view + IndexPart.header, IndexPart.header)
        memcpy(known, ownHeader, IndexPart.header)
        isMended = mend(known, stored)
        memcpy(known + IndexPart.header, known, IndexPart.header)
        memcpy(shared + IndexPart.start, view + IndexPart.start, count - IndexPart.start)
        if number(known, IndexPart.lastFrame) == 0 {
            // A new log, of which nothing is in the file. SQLite writes this 0 next. Nobody may see the former number
            // with frames of the new log, even if the program is killed here. The writer has the locks of all readers.
            for memory in [shared, view, known] {
                memory.storeBytes(of: 0, toByteOffset: IndexPart.backfilled, as: UInt32.self)
            }
        }
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        memcpy(shared + IndexPart.header, known, IndexPart.header)
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        memcpy(shared, known, IndexPart.header)
    }

    private func takeHeader() {
        memcpy(known, shared, IndexPart.header)
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        memcpy(known + IndexPart.header, shared + IndexPart.header, IndexPart.header)
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        takeNumbers()
        memcpy(view, known, 2 * IndexPart.header)
        memcpy(ownHeader, known + IndexPart.header, IndexPart.header)
        isMended = true
    }

    private func takeNumbers() {
        memcpy(view + IndexPart.start, shared + IndexPart.start, count - IndexPart.start)
    }

    /// For the holder of the writer's lock, which has just merged.
    func beginWriting() {
        takeNumbers()
        // While the index is made anew, the header may say anything.
        let place = IndexPart.start + 4 * Int(number(known, IndexPart.lastFrame))
        if place < count { shared.storeBytes(of: 1, toByteOffset: place, as: UInt32.self) }
    }

    // MARK: The header

    func lastFrame(_ frame: UInt32) -> (salts: UInt64, checksum: LogChecksum)? {
        guard isMended, number(known, IndexPart.lastFrame) == frame, isWhole(known) else { return nil }
        let salts = known.load(fromByteOffset: IndexPart.salts, as: UInt64.self)
        // The salts are copied from the log as bytes.
        return (salts.bigEndian, checksum(in: known, IndexPart.frameChecksum))
    }

    /// Corrects the checksum of the last frame.
    ///
    /// - Returns: False if it cannot be read.
    private func mend(
        _ header: UnsafeMutableRawPointer, _ stored: (UInt32, Int) -> (salts: UInt64, checksum: LogChecksum)?
    ) -> Bool {
        let frame = number(header, IndexPart.lastFrame)
        // 65,536 does not fit and is written as 1.
        let size = Int(header.load(fromByteOffset: IndexPart.pageSize, as: UInt16.self))
        guard frame > 0 else { return true }
        guard let (salts, right) = stored(frame, size == 1 ? 65_536 : size),
            salts.bigEndian == header.load(fromByteOffset: IndexPart.salts, as: UInt64.self)
        else { return false }
        header.storeBytes(of: right.first, toByteOffset: IndexPart.frameChecksum, as: UInt32.self)
        header.storeBytes(of: right.second, toByteOffset: IndexPart.frameChecksum + 4, as: UInt32.self)
        let own = Self.checksum(of: header)
        header.storeBytes(of: own.first, toByteOffset: IndexPart.ownChecksum, as: UInt32.self)
        header.storeBytes(of: own.second, toByteOffset: IndexPart.ownChecksum + 4, as: UInt32.self)
        return true
    }

    private func isWhole(_ header: UnsafeRawPointer) -> Bool {
        Self.checksum(of: header) == checksum(in: header, IndexPart.ownChecksum)
    }

    private func checksum(in header: UnsafeRawPointer, _ place: Int) -> LogChecksum {
        LogChecksum(first: number(header, place), second: number(header, place + 4))
    }

    private static func checksum(of header: UnsafeRawPointer) -> LogChecksum {
        var checksum = LogChecksum(first: 0, second: 0)
        checksum.add(UnsafeRawBufferPointer(start: header, count: IndexPart.ownChecksum), bigEndian: false)
        return checksum
    }
}
