import Bytes
import DatabasePages
import Foundation
import PreparedKeys
import TestSupport
import Testing

@testable import SQLCipherFiles

/// Files of PyPI's and Debian's SQLCipher open page by page, and open there again after every page was sealed anew.
@Suite struct CipherPagesTests {
    private static let peer = Result {
        try PythonPeer(
            URL(filePath: #filePath).deletingLastPathComponent().appendingPathComponent("Peer/sqlcipher_peer.py").path)
    }
    /// Where `Scripts/install/setup.sh --tests` puts what `Tests/Support/Vectors/test-vectors.txt` names.
    private static let packages = Repository.file(".build/test-vectors").path

    private static let rawKey = [UInt8](100..<132)
    private static let outsideSalt = [UInt8](1...16)
    private static let rows = "1000 499500"

    private func ask(_ action: String, _ path: String, _ settings: [String] = []) throws -> [String] {
        try Self.peer.get().ask([Self.packages, action, path] + settings).split(separator: "\n").map(String.init)
    }

    private func settings(_ format: CipherFormat, isRaw: Bool) -> [String] {
        let key = isRaw ? "\"x'\(Self.rawKey.hexadecimal())'\"" : "'a ''passphrase'''"
        return [
            "\(format.version.rawValue)", "\(format.pageSize)", key, "\(format.plainHeaderSize)",
            format.plainHeaderSize == 0 ? "-" : Self.outsideSalt.hexadecimal(),
        ]
    }

    private func key(isRaw: Bool) throws -> SQLCipherKey {
        if isRaw { return .raw(try SecretBytes(count: 32) { $0.copyBytes(from: Self.rawKey) }) }
        return .passphrase(try SecretBytes("a 'passphrase'"))
    }

    private func read(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: path))) }

    private func found(_ bytes: [UInt8], _ key: SQLCipherKey, _ format: CipherFormat) throws -> CipherPages? {
        try CipherSearch.pages(
            for: key, in: [bytes], salt: format.plainHeaderSize == 0 ? nil : Self.outsideSalt,
            plainHeaderSize: format.plainHeaderSize)
    }

    private func opened(_ sealed: [UInt8], number: UInt32, _ pages: CipherPages) throws -> [UInt8] {
        var page = [UInt8](repeating: 0xEE, count: sealed.count)
        do {
            try sealed.withUnsafeBytes { sealed in
                try page.withUnsafeMutableBytes { try pages.open(sealed, number: number, into: $0) }
            }
        } catch {
            #expect(page.allSatisfy { $0 == 0 }, "something is left of a page that does not open")
            throw error
        }
        return page
    }

    private func sealed(_ page: [UInt8], number: UInt32, _ pages: CipherPages) throws -> [UInt8] {
        var sealed = [UInt8](repeating: 0xEE, count: page.count)
        try page.withUnsafeBytes { page in
            try sealed.withUnsafeMutableBytes { try pages.seal(page, number: number, into: $0) }
        }
        return sealed
    }

    private func mapped(
        _ bytes: [UInt8], _ size: Int, _ body: ([UInt8], UInt32) throws -> [UInt8]
    ) throws -> Data {
        try #require(!bytes.isEmpty && bytes.count % size == 0)
        return Data(
            try stride(from: 0, to: bytes.count, by: size).flatMap {
                try body(Array(bytes[$0..<($0 + size)]), UInt32(truncatingIfNeeded: $0 / size + 1))
            })
    }

    struct Case: CustomTestStringConvertible {
        let format: CipherFormat
        let isRaw: Bool

        init?(_ version: CipherFormat.Version, pageSize: Int? = nil, isRaw: Bool = false, plainHeaderSize: Int = 0) {
            guard let format = CipherFormat(version, pageSize: pageSize, plainHeaderSize: plainHeaderSize) else {
                return nil
            }
            (self.format, self.isRaw) = (format, isRaw)
        }

        var testDescription: String {
            "version \(format.version.rawValue), \(format.pageSize), \(isRaw ? "raw" : "passphrase"), "
                + "plain \(format.plainHeaderSize)"
        }

        /// SQLCipher 4 reserves 80 bytes in each page, and SQLite wants 480 for itself: no page has 512 bytes.
        static let all: [Case] =
            CipherFormat.Version.allCases.compactMap { Case($0) }
            + CipherFormat.Version.allCases.flatMap { version in
                [1024, 4096, 65_536].compactMap { Case(version, pageSize: $0, isRaw: true) }
            } + [Case(.four, isRaw: true, plainHeaderSize: 32), Case(.four, plainHeaderSize: 32)].compactMap { $0 }
    }

    @Test(arguments: Case.all)
    func filesOfSQLCipher(_ test: Case) throws {
        let folder = try TemporaryFolder()
        let (path, plain, ours) = (folder.path(of: "theirs"), folder.path(of: "plain"), folder.path(of: "ours"))
        let settings = settings(test.format, isRaw: test.isRaw)
        _ = try ask("make", path, settings + ["1000"])
        let (bytes, key) = (try read(path), try key(isRaw: test.isRaw))
        let pages = try #require(try found(bytes, key, test.format))
        // With a raw key, versions 2 and 3 do not differ.
        let isThree = test.isRaw && test.format.version == .two
        #expect(pages.format == (isThree ? CipherFormat(.three, pageSize: test.format.pageSize) : test.format))
        let size = test.format.pageSize
        let text = try mapped(bytes, size) { try opened($0, number: $1, pages) }
        try text.write(to: URL(filePath: plain))
        #expect(try ask("plain", plain) == [Self.rows, "ok"])

        let (salt, format) = ([UInt8](Data(repeating: 9, count: 16)), test.format)
        let sealing = try CipherPages(
            key: key, salt: format.plainHeaderSize == 0 ? salt : Self.outsideSalt, format: format)
        let anew = try mapped([UInt8](text), size) { try sealed($0, number: $1, sealing) }
        #expect(anew.count == bytes.count && anew != Data(bytes))
        try anew.write(to: URL(filePath: ours))
        // The check of all HMACs prints a line for each page that fails it; it finds no HMAC in version 1.
        let read = try ask("read", ours, settings)
        #expect(Array(read.prefix(2)) == [Self.rows, "ok"])
        if format.isAuthenticated { #expect(read.count <= 3 && read.dropFirst(2).joined().isEmpty) }
    }

    /// Debian's `sqlcipher` shell is of 2017 and writes version 3, without the bytes that later ones reserve.
    @Test func filesOfTheShell() throws {
        let folder = try TemporaryFolder()
        let (path, ours) = (folder.path(of: "theirs"), folder.path(of: "ours"))
        func shell(_ path: String, _ script: String) throws -> [String] {
            let run = try ProgramStart(["sqlcipher", "-batch", "-bail", path])
                .run(input: Data(("PRAGMA key = 'a ''passphrase''';\n" + script).utf8))
            try #require(run.status == 0, "\(run.errors)")
            return run.text.split(separator: "\n").map(String.init)
        }
        let sums = "SELECT count(*), sum(id) FROM t; PRAGMA integrity_check;"
        _ = try shell(
            path,
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, v);
            WITH RECURSIVE c(x) AS (SELECT 0 UNION ALL SELECT x + 1 FROM c WHERE x < 999)
                INSERT INTO t SELECT x, 'row ' || x FROM c;
            """)
        let format = try #require(CipherFormat(.three))
        let (bytes, key) = (try read(path), try key(isRaw: false))
        let pages = try #require(try found(bytes, key, format))
        #expect(pages.format == format)
        let anew = try mapped(bytes, format.pageSize) { try sealed(opened($0, number: $1, pages), number: $1, pages) }
        #expect(anew != Data(bytes))
        try anew.write(to: URL(filePath: ours))
        #expect(try shell(ours, sums).suffix(2) == ["1000|499500", "ok"])
    }

    /// Some builds of version 2 put the page's number in the other order under the HMAC. No such build is here: this
    /// package makes the file.
    @Test func otherOrderOfPageNumbers() throws {
        let format = try #require(CipherFormat(.two, pageNumbers: .big))
        let key = try key(isRaw: true)
        let pages = try CipherPages(key: key, salt: Self.outsideSalt, format: format)
        let file =
            try sealed(firstPage(format), number: 1, pages)
            + sealed(
                [UInt8](repeating: 0, count: format.pageSize), number: 2, pages)
        #expect(try found(file, key, format)?.format == format)
        let little = try CipherPages(key: key, salt: Self.outsideSalt, format: #require(CipherFormat(.two)))
        #expect(throws: PageError.damaged(page: 1)) {
            try opened(Array(file.prefix(format.pageSize)), number: 1, little)
        }
    }

    /// SQLite has nowhere to put the room for a seal that it did not reserve.
    @Test func pagesWithoutRoomForTheirSeal() throws {
        let format = try #require(CipherFormat(.four))
        let pages = try CipherPages(key: try key(isRaw: true), salt: Self.outsideSalt, format: format)
        var first = firstPage(format)
        first[20] = 79
        #expect(throws: PageError.notFirstPage) { try sealed(first, number: 1, pages) }
        var page = [UInt8](repeating: 0, count: format.pageSize)
        page[format.pageSize - format.reserved] = 1
        #expect(throws: PageError.reservedBytesInUse(page: 2)) { try sealed(page, number: 2, pages) }
        #expect(CipherFormat(.four, pageSize: 512) == nil)
    }

    private func firstPage(_ format: CipherFormat) -> [UInt8] {
        var page = [UInt8](repeating: 0, count: format.pageSize)
        page.replaceSubrange(0..<16, with: DatabaseHeader.plainMagic)
        page.replaceSubrange(
            16..<24,
            with: [
                UInt8(truncatingIfNeeded: format.pageSize >> 8), UInt8(truncatingIfNeeded: format.pageSize & 0xFF), 1,
                1, 80, 64, 32, 32,
            ])
        return page
    }

    /// A changed byte, another number and another key do not open. The bytes behind the HMAC are of no use to anybody.
    @Test(arguments: [CipherFormat.Version.two, .three, .four])
    func damage(_ version: CipherFormat.Version) throws {
        var random = SeededGenerator()
        let format = try #require(CipherFormat(version))
        let key = try key(isRaw: true)
        let pages = try CipherPages(key: key, salt: Self.outsideSalt, format: format)
        let page =
            [UInt8](random.bytes(format.pageSize - format.reserved)) + [UInt8](repeating: 0, count: format.reserved)
        let text = [firstPage(format), page]
        let used = format.pageSize - format.reserved + 16 + format.hash.byteCount
        for number in [UInt32(1), 2] {
            let whole = try sealed(text[Int(number) - 1], number: number, pages)
            #expect(try opened(whole, number: number, pages) == text[Int(number) - 1])
            let start = number == 1 ? 16 : 0
            for _ in 0..<TestScale.count(200, soak: 10_000) {
                var flipped = whole
                flipped[start + random.int(below: used - start)] ^= UInt8(1) << random.int(below: 8)
                #expect(throws: PageError.damaged(page: number)) { try opened(flipped, number: number, pages) }
            }
            #expect(throws: PageError.damaged(page: 3)) { try opened(whole, number: 3, pages) }
            let strangers: [(SQLCipherKey, [UInt8])] = [
                (.raw(try SecretBytes(count: 32) { _ in }), Self.outsideSalt),
                (key, [UInt8](repeating: 0, count: 16)),
            ]
            for (other, salt) in strangers {
                let stranger = try CipherPages(key: other, salt: salt, format: format)
                #expect(throws: PageError.damaged(page: number)) { try opened(whole, number: number, stranger) }
            }
            #expect(throws: PageError.damaged(page: number)) { try opened([1, 2, 3], number: number, pages) }
        }
        #expect(throws: PageError.notFirstPage) { try sealed(page, number: 1, pages) }
        // Two seals of a page have nothing in common.
        let seals = try (0..<2).map { _ in try sealed(text[0], number: 1, pages) }
        #expect(seals[0][16..<32] != seals[1][16..<32])
    }

    /// Anything may be in a file that somebody calls a database of SQLCipher.
    @Test func strangeFiles() throws {
        var random = SeededGenerator()
        let key = try key(isRaw: true)
        let format = try #require(CipherFormat(.four))
        for _ in 0..<TestScale.count(30, soak: 2_000) {
            let bytes = [UInt8](random.bytes(random.int(below: 70_000)))
            #expect(try found(bytes, key, format) == nil)
        }
        for count in [0, 15, 16, 511, 512] {
            #expect(try found([UInt8](repeating: 0, count: count), key, format) == nil)
        }
    }

    @Test func refusedFormats() throws {
        #expect(CipherFormat(.four, pageSize: 1000) == nil && CipherFormat(.four, pageSize: 131_072) == nil)
        #expect(CipherFormat(.four, rounds: 0) == nil && CipherFormat(.four, plainHeaderSize: 20) == nil)
        #expect(CipherFormat(.four, plainHeaderSize: 4096) == nil && CipherFormat(.four, plainHeaderSize: -16) == nil)
        let format = try #require(CipherFormat(.four))
        let short = SQLCipherKey.raw(try SecretBytes(count: 16) { _ in })
        #expect(throws: (any Error).self) { try CipherPages(key: short, salt: Self.outsideSalt, format: format) }
        #expect(throws: (any Error).self) { try CipherPages(key: key(isRaw: true), salt: [1], format: format) }
    }

    /// swift-crypto's own interface, which is used where no key can be prepared, opens what prepared keys seal, and the
    /// other way round.
    @Test(arguments: CipherFormat.Version.allCases)
    func preparedKeysDoTheSame(_ version: CipherFormat.Version) throws {
        var random = SeededGenerator()
        let format = try #require(CipherFormat(version, pageSize: 4096, rounds: 3))
        let salt = [UInt8](1...16)
        let both = try [true, false].map {
            try CipherPages(key: key(isRaw: true), salt: salt, format: format, preparing: $0)
        }
        for number in [2, 3, 70_000] as [UInt32] {
            var page = (0..<4096).map { _ in random.next(upperBound: UInt8.max) }
            page.replaceSubrange((4096 - format.reserved)..., with: repeatElement(0, count: format.reserved))
            for (one, other) in [(both[0], both[1]), (both[1], both[0])] {
                #expect(try opened(sealed(page, number: number, one), number: number, other) == page)
            }
        }
    }
}
