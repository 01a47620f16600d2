import Bytes
import CLibrary
import DatabasePages

/// The recovery of a database's page index from the seals in its files.
///
/// A page's seal proves that the page belongs to the database and to its place. It does not prove that the page is the
/// last version: a program that may write to the files could have put an older one there.
package enum IndexRecovery {
    /// - Parameters:
    ///   - path: The path of the database's file, with its log or journal beside it. No connection may have it open.
    ///   - key: The key of the database.
    /// - Returns: The numbers of the damaged pages. Reading one of them is an error.
    package static func makeIndex(
        ofDatabase path: String, key: SecretBytes
    ) throws(VFSFailure) -> [UInt32] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { throw .system("open", path) }
        defer { close(descriptor) }
        guard let start = try bytes(DatabaseHeader.byteCount, of: descriptor, path),
            let header = start.withUnsafeBytes({ DatabaseHeader($0) })
        else { throw .notDatabase(path: path) }
        let (versions, damaged) = try pages(of: descriptor, path, PageCipher(key: key, header: header))
        let (sequence, salts) = (try journalSequence(path, header.database), try logSalts(path))
        do throws(PageIndexError) {
            _ = try PageIndex.restore(
                PageIndex.path(ofDatabase: path, header.database), database: header.database, key: key,
                versions: versions, sequence: sequence, walSalts: salts)
        } catch {
            throw .index(error)
        }
        return damaged
    }

    /// The largest number of pages in holes. SQLite leaves out one, with the byte that it locks, and room at the end.
    private static let holeLimit = 1 << 20

    /// Returns the version of each page; 0 for pages that were never written and for damaged ones.
    private static func pages(
        of descriptor: Int32, _ path: String, _ cipher: PageCipher
    ) throws(VFSFailure) -> (versions: [UInt64], damaged: [UInt32]) {
        let size = cipher.pageSize
        let rooms = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * size, alignment: 16)
        defer {
            SecretBytes.wipe(rooms)
            rooms.deallocate()
        }
        let sealed = UnsafeMutableRawBufferPointer(rebasing: rooms[..<size])
        let clear = UnsafeMutableRawBufferPointer(rebasing: rooms[size...])
        var (versions, damaged): ([UInt64], [UInt32]) = ([], [])
        var (wasEmpty, holes) = (false, 0)
        while let base = sealed.baseAddress {
            if wasEmpty {
                // Skips holes: a file can have more of them than can be read in any time.
                let offset = Int64(versions.count) * Int64(size)
                guard let data = FileHoles.data(in: descriptor, from: offset), data / Int64(size) < UInt32.max else {
                    break
                }
                let skipped = Int((data - offset) / Int64(size))
                holes += skipped
                // Each skipped page takes memory here.
                guard holes <= holeLimit else { throw .notDatabase(path: path) }
                versions.append(contentsOf: repeatElement(0, count: skipped))
            }
            let count = WholeAccess.read(descriptor, base, size, at: Int64(versions.count) * Int64(size))
            guard count >= 0 else { throw .system("read", path) }
            guard count > 0, versions.count < UInt32.max else { break }
            let page = UInt32(truncatingIfNeeded: versions.count + 1)
            wasEmpty = count == size && sealed.allSatisfy { $0 == 0 }
            if wasEmpty {
                versions.append(0)
                continue
            }
            let source = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(sealed)[..<count])
            do throws(PageError) {
                versions.append(try cipher.open(source, at: .main(page: page), into: clear).version.rawValue)
            } catch {
                if case .memoryUnavailable = error { throw .memoryUnavailable }
                versions.append(0)
                damaged.append(page)
            }
        }
        return (versions, damaged)
    }

    /// Returns the first bytes of a file; nil if it has fewer.
    private static func bytes(
        _ count: Int, of descriptor: Int32, _ path: String
    ) throws(VFSFailure) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        let got = bytes.withUnsafeMutableBytes { room in
            room.baseAddress.map { WholeAccess.read(descriptor, $0, count, at: 0) } ?? 0
        }
        guard got >= 0 else { throw .system("read", path) }
        return got == count ? bytes : nil
    }

    /// Does the same as ``bytes(_:of:_:)`` for a file that may not exist.
    private static func bytes(_ count: Int, ofFile path: String) throws(VFSFailure) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            guard errno == ENOENT else { throw .system("open", path) }
            return nil
        }
        defer { close(descriptor) }
        return try bytes(count, of: descriptor, path)
    }

    private static func logSalts(_ path: String) throws(VFSFailure) -> UInt64 {
        guard let header = try bytes(FileFormat.logHeader, ofFile: path + "-wal") else { return 0 }
        return header.withUnsafeBytes { header in
            guard let base = header.baseAddress, base.bigEndian(at: 0, as: UInt32.self) & ~1 == FileFormat.logMagic
            else { return 0 }
            return base.bigEndian(at: FileFormat.logSalts, as: UInt64.self)
        }
    }

    private static func journalSequence(_ path: String, _ database: DatabaseID) throws(VFSFailure) -> UInt64 {
        guard let sector = try bytes(JournalHeader.sector, ofFile: path + "-journal") else { return 1 }
        let header = sector.withUnsafeBytes { $0.baseAddress.map { JournalHeader(sector: $0) } }
        guard let header, header.isBegun, let binding = header.binding, binding.database == database else { return 1 }
        return binding.sequence
    }
}
