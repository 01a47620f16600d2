import Bytes
import CLibrary
import FoundationEssentials
import SystemLibraries

/// The files in a zip archive, which libarchive reads. All of it stays in memory.
enum Archive {
    private typealias Reader = OpaquePointer

    /// `archive.h`.
    private static let atEnd: Int32 = 1
    /// Something is odd, and the entry can be read: such as a name that the locale has no letters for.
    private static let warning: Int32 = -20

    private static let mostFiles = 100_000

    static func isMeant(_ bytes: Data) -> Bool { bytes.starts(with: [0x50, 0x4B, 3, 4]) }

    /// Returns the contents of all files by their names; nil if the archive is damaged.
    ///
    /// - Parameter limit: The most bytes of all files.
    /// - Throws: ``ExchangeError/missing(_:)`` and ``ExchangeError/tooLarge``.
    static func files(in bytes: Data, limit: Int) throws(ExchangeError) -> [String: Data]? {
        let library: Library
        do {
            library = try Library()
        } catch {
            throw .missing("libarchive")
        }
        // libarchive has no names for what the locale has no letters for, and this program has none but C's.
        let locale = newlocale(1 << LC_CTYPE, "C.UTF-8", nil)
        let former = locale.flatMap { uselocale($0) }
        defer {
            if let former { uselocale(former) }
            if let locale { freelocale(locale) }
        }
        var room = limit
        let outcome = bytes.withUnsafeBytes { bytes -> Result<[String: Data]?, ExchangeError> in
            do throws(ExchangeError) {
                return .success(try library.read(bytes, &room))
            } catch {
                return .failure(error)
            }
        }
        return try outcome.get()
    }

    private struct Library {
        private let make: @convention(c) () -> Reader?
        private let free: @convention(c) (Reader?) -> Int32
        private let takeZip: @convention(c) (Reader?) -> Int32
        private let open: @convention(c) (Reader?, UnsafeRawPointer?, Int) -> Int32
        private let next: @convention(c) (Reader?, UnsafeMutablePointer<OpaquePointer?>?) -> Int32
        private let data: @convention(c) (Reader?, UnsafeMutableRawPointer?, Int) -> Int
        private let name: @convention(c) (OpaquePointer?) -> UnsafePointer<CChar>?

        init() throws(SystemLibraryError) {
            let library = try SystemLibrary("libarchive.so.13", provides: "an archive")
            make = try library.function("archive_read_new")
            free = try library.function("archive_read_free")
            takeZip = try library.function("archive_read_support_format_zip_seekable")
            open = try library.function("archive_read_open_memory")
            next = try library.function("archive_read_next_header")
            data = try library.function("archive_read_data")
            name = try library.function("archive_entry_pathname_utf8")
        }

        func read(_ bytes: UnsafeRawBufferPointer, _ room: inout Int) throws(ExchangeError) -> [String: Data]? {
            guard let reader = make() else { return nil }
            defer { _ = free(reader) }
            guard takeZip(reader) == 0, open(reader, bytes.baseAddress, bytes.count) == 0 else { return nil }
            var files: [String: Data] = [:]
            var buffer = [UInt8](repeating: 0, count: 1 << 18)
            defer { buffer.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
            for number in 0... {
                var entry: OpaquePointer?
                let status = next(reader, &entry)
                if status == Archive.atEnd { return files }
                guard status >= Archive.warning else { return nil }
                guard number < Archive.mostFiles else { throw .tooLarge }
                var contents = Data()
                while true {
                    let count = buffer.withUnsafeMutableBytes { data(reader, $0.baseAddress, $0.count) }
                    guard count >= 0 else { return nil }
                    guard count > 0 else { break }
                    guard count <= room else { throw .tooLarge }
                    room -= count
                    contents += buffer[..<count]
                }
                guard let name = name(entry).map({ String(cString: $0) }) else { continue }
                files[name] = contents
            }
            return files
        }
    }
}
