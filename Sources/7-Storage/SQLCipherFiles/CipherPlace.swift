import Bytes
import CLibrary
import DatabasePages
import DatabaseVFS
import Synchronization

/// What is known of a SQLCipher file before it is read, and the keys that were derived for it.
///
/// The connections of a process share the derived keys, because a derivation takes a tenth of a second and more.
package final class CipherPlace: PageForm {
    let key: SQLCipherKey
    let version: CipherFormat.Version?
    let pageSize: Int?
    let rounds: Int?
    let plainHeaderSize: Int
    let salt: [UInt8]?
    private let found = Mutex<CipherPages?>(nil)

    /// - Parameters:
    ///   - version: Nil to find it out; a new file is then of version 4.
    ///   - pageSize: In bytes. Nil to find it out; SQLite chooses that of a new file.
    ///   - rounds: The rounds of PBKDF2; nil for the number of the version.
    ///   - plainHeaderSize: How many bytes at the start of the file are plaintext.
    ///   - salt: The 16 bytes of salt of a file with a plaintext header. Nil to read it from the file; a new file then
    ///     gets a random one.
    package init(
        key: SQLCipherKey, version: CipherFormat.Version? = nil, pageSize: Int? = nil, rounds: Int? = nil,
        plainHeaderSize: Int = 0, salt: [UInt8]? = nil
    ) {
        (self.key, self.version, self.pageSize, self.rounds) = (key, version, pageSize, rounds)
        (self.plainHeaderSize, self.salt) = (plainHeaderSize, salt)
    }

    package func store(in file: OpenFile) -> any PageStore { CipherStore(file, self) }

    package func isSame(as other: any PageForm) -> Bool {
        guard let other = other as? CipherPlace else { return false }
        return key == other.key && version == other.version && pageSize == other.pageSize && rounds == other.rounds
            && plainHeaderSize == other.plainHeaderSize && salt == other.salt
    }

    package var reserved: Int { CipherFormat(version ?? .four, pageSize: 4096)?.reserved ?? 0 }

    /// Returns the pages of the file. Tries the key on the first page as it is in the file, in its journal and in its
    /// log, because a killed program may have left it incomplete in the file.
    ///
    /// - Parameter descriptor: A descriptor of the file.
    /// - Throws: ``VFSFailure/wrongKey(path:message:)`` if no format opens the first page.
    func pages(of path: String, _ descriptor: Int32) throws(VFSFailure) -> CipherPages {
        let starts = try FirstPages.all(of: path, descriptor)
        if let known = found.withLock({ $0 }), starts.contains(where: { CipherSearch.opens($0, known) }) {
            return known
        }
        do {
            let pages = try CipherSearch.pages(
                for: key, in: starts, salt: salt, versions: version.map { [$0] } ?? CipherFormat.Version.newestFirst,
                pageSize: pageSize, rounds: rounds, plainHeaderSize: plainHeaderSize)
            guard let pages else { throw VFSFailure.wrongCipherKey(path: path) }
            found.withLock { $0 = pages }
            return pages
        } catch {
            throw error as? VFSFailure ?? .wrongCipherKey(path: path)
        }
    }

    /// Returns the pages of a new file.
    func newPages(of path: String, pageSize: Int) throws(VFSFailure) -> CipherPages {
        guard
            let format = CipherFormat(
                version ?? .four, pageSize: pageSize, rounds: rounds, plainHeaderSize: plainHeaderSize)
        else { throw .unexpectedAccess(operation: "write", offset: 0, count: pageSize) }
        do {
            let pages = try CipherPages(key: key, salt: try salt ?? Self.randomSalt(), format: format)
            found.withLock { $0 = pages }
            return pages
        } catch {
            throw .page(error as? PageError ?? .memoryUnavailable)
        }
    }

    private static func randomSalt() throws(PageError) -> [UInt8] {
        var salt = [UInt8](repeating: 0, count: CipherFormat.saltSize)
        var failure: PageError?
        salt.withUnsafeMutableBytes { bytes in
            do throws(PageError) { try KernelRandom.fill(bytes) } catch { failure = error }
        }
        if let failure { throw failure }
        return salt
    }
}

extension VFSFailure {
    /// No format opens the first page with the key.
    package static func wrongCipherKey(path: String) -> VFSFailure {
        .wrongKey(
            path: path,
            message: "the key does not open \(path) in any format of SQLCipher that was tried; check the key, and "
                + "whether the file has its own number of rounds, page size or plaintext header")
    }
}

/// The places where the first page of a database can be.
private enum FirstPages {
    private static let largestPage = 65_536

    /// Returns the starts of the file and of each copy of its first page in the journal and the log beside it.
    static func all(of path: String, _ descriptor: Int32) throws(VFSFailure) -> [[UInt8]] {
        guard let start = read(descriptor, largestPage, at: 0) else { throw .system("read", path) }
        return [start] + [journaled(path + "-journal"), logged(path + "-wal")].compactMap(\.self)
    }

    private static func read(_ descriptor: Int32, _ count: Int, at offset: Int64) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        let got = WholeAccess.read(descriptor, &bytes, count, at: offset)
        return got < 0 ? nil : Array(bytes.prefix(got))
    }

    /// Runs `body` with a descriptor of a file that no connection locks.
    private static func with<Result>(_ path: String, _ body: (Int32) -> Result?) -> Result? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return body(descriptor)
    }

    /// The first page in a journal's first part.
    private static func journaled(_ path: String) -> [UInt8]? {
        with(path) { descriptor in
            guard let bytes = read(descriptor, JournalHeader.sector, at: 0), bytes.count == JournalHeader.sector else {
                return nil
            }
            let header = bytes.withUnsafeBytes { $0.baseAddress.map { JournalHeader(sector: $0) } }
            guard let header, header.isBegun, let size = pageSize(header.pageSize) else { return nil }
            return firstPage(
                in: descriptor, from: Int64(header.sectorSize), before: 4, size: size, step: Int64(size + 8))
        }
    }

    /// The first page in a log.
    private static func logged(_ path: String) -> [UInt8]? {
        with(path) { descriptor in
            guard let bytes = read(descriptor, FileFormat.logHeader, at: 0), bytes.count == FileFormat.logHeader else {
                return nil
            }
            let size = bytes.withUnsafeBytes { $0.baseAddress?.bigEndian(at: 8, as: UInt32.self) }
            guard let size = size.flatMap(pageSize) else { return nil }
            return firstPage(
                in: descriptor, from: Int64(FileFormat.logHeader), before: FileFormat.frameHeader, size: size,
                step: Int64(size + FileFormat.frameHeader))
        }
    }

    private static func pageSize(_ stated: UInt32) -> Int? { PageGeometry(pageSize: Int(stated))?.pageSize }

    /// Returns the first page among records that begin with a page's number.
    ///
    /// - Parameter before: The bytes of a record before its page.
    private static func firstPage(
        in descriptor: Int32, from offset: Int64, before: Int, size: Int, step: Int64
    ) -> [UInt8]? {
        var offset = offset
        while let number = read(descriptor, 4, at: offset), number.count == 4 {
            if number == [0, 0, 0, 1] { return read(descriptor, size, at: offset + Int64(before)) }
            offset += step
        }
        return nil
    }
}
