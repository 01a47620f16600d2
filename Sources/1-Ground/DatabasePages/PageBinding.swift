import Bytes

/// The additional data of a page's seal: they bind the page to its place.
///
/// 40 bytes: label 8, database id 10, binary logarithm of the page size 1, zero 1, page 4, frame 4, commit size 4, and
/// the log's salts or the journal's sequence 8. Fields that a place does not have are zero.
struct PageBinding: BitwiseCopyable {
    static let byteCount = 40

    private let label: UInt64
    private let database: UInt64
    private let databaseSizePage: UInt64
    private let frameCommit: UInt64
    private let time: UInt64

    private static let main = number("kcdbmain")
    private static let wal = number("kcdbwal\0")
    private static let journal = number("kcdbjrnl")

    private static func number(_ label: StaticString) -> UInt64 {
        label.withUTF8Buffer { UnsafeRawBufferPointer($0).bigEndian() }
    }

    /// The part that all pages of a database share.
    struct Start {
        let first: UInt64
        let second: UInt64

        init(_ header: DatabaseHeader) {
            let bytes = header.database.bytes + [header.bytes[5], 0, 0, 0, 0, 0]
            (first, second) = bytes.withUnsafeBytes { ($0.bigEndian(), $0.bigEndian(at: 8)) }
        }
    }

    init(_ start: Start, _ place: PagePlace) {
        let label: UInt64
        let frameCommit: UInt64
        let time: UInt64
        switch place {
        case .main: (label, frameCommit, time) = (Self.main, 0, 0)
        case .wal(_, let frame, let commit, let salts):
            (label, frameCommit, time) = (Self.wal, UInt64(frame) << 32 | UInt64(commit), salts)
        case .journal(_, let sequence): (label, frameCommit, time) = (Self.journal, 0, sequence)
        }
        self.label = label.bigEndian
        database = start.first.bigEndian
        databaseSizePage = (start.second | UInt64(place.page)).bigEndian
        self.frameCommit = frameCommit.bigEndian
        self.time = time.bigEndian
    }
}

/// The random bytes for the derivation of a page key.
struct PageEpoch: Hashable {
    static let byteCount = 12

    private let first: UInt64
    private let second: UInt32

    init() throws(PageError) {
        var (first, second) = (UInt64(0), UInt32(0))
        try withUnsafeMutableBytes(of: &first) { (bytes) throws(PageError) in try KernelRandom.fill(bytes) }
        try withUnsafeMutableBytes(of: &second) { (bytes) throws(PageError) in try KernelRandom.fill(bytes) }
        (self.first, self.second) = (first, second)
    }

    init(_ bytes: UnsafeRawPointer) {
        first = bytes.loadUnaligned(as: UInt64.self)
        second = bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self)
    }

    func store(to bytes: UnsafeMutableRawPointer) {
        bytes.storeBytes(of: first, as: UInt64.self)
        bytes.storeBytes(of: second, toByteOffset: 8, as: UInt32.self)
    }

    /// Returns one of `count` slots in a cache. The bytes are random, so the slots are, too.
    func slot(of count: Int) -> Int { Int(truncatingIfNeeded: first & UInt64(clamping: count - 1)) }
}
