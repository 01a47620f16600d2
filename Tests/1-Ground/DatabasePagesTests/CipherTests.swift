import Bytes
import Foundation
import TestSupport
import Testing

@testable import DatabasePages

/// A cipher, and pages for it.
struct CipherUnderTest {
    let header: DatabaseHeader
    let cipher: PageCipher

    static func key(_ byte: UInt8 = 7) throws -> SecretBytes {
        try SecretBytes(count: 32) { $0.initializeMemory(as: UInt8.self, repeating: byte) }
    }

    init(pageSize: Int = 4096, key: UInt8 = 7, id: UInt8 = 1, preparing: Bool = true) throws {
        let geometry = try #require(PageGeometry(pageSize: pageSize))
        let database = try #require(DatabaseID(repeatElement(id, count: 10)))
        header = DatabaseHeader(geometry: geometry, database: database)
        cipher = PageCipher(key: try Self.key(key), header: header, preparing: preparing)
    }

    func page(_ random: inout SeededGenerator, number: UInt32 = 2) -> [UInt8] {
        var page = [UInt8](random.bytes(header.geometry.usableSize)) + [UInt8](repeating: 0, count: 48)
        if number == 1 {
            page.replaceSubrange(0..<16, with: DatabaseHeader.plainMagic)
            page[20] = 48
        }
        return page
    }

    func seal(_ page: [UInt8], extra: UInt64 = 0, at place: PagePlace) throws -> (sealed: [UInt8], version: PageVersion)
    {
        var sealed = [UInt8](repeating: 0, count: page.count)
        let version = try page.withUnsafeBytes { page in
            try sealed.withUnsafeMutableBytes { try cipher.seal(page, extra: extra, at: place, into: $0) }
        }
        return (sealed, version)
    }

    func open(_ sealed: [UInt8], at place: PagePlace) throws -> (page: [UInt8], version: PageVersion, extra: UInt64) {
        var page = [UInt8](repeating: 0xEE, count: sealed.count)
        do {
            let (version, extra) = try sealed.withUnsafeBytes { sealed in
                try page.withUnsafeMutableBytes { try cipher.open(sealed, at: place, into: $0) }
            }
            return (page, version, extra)
        } catch {
            #expect(page.allSatisfy { $0 == 0 }, "something is left of a page that does not open")
            throw error
        }
    }
}

@Suite struct CipherTests {
    static let places: [PagePlace] = [
        .main(page: 1), .main(page: 2), .main(page: .max), .wal(page: 1, frame: 1, commit: 0, salts: 5),
        .wal(page: 2, frame: 7, commit: 9, salts: 5), .journal(page: 1, sequence: 3), .journal(page: 2, sequence: 3),
    ]

    @Test(arguments: [512, 1024, 4096, 65_536], [true, false])
    func backAndForth(pageSize: Int, preparing: Bool) throws {
        var random = SeededGenerator()
        let one = try CipherUnderTest(pageSize: pageSize, preparing: preparing)
        let other = try CipherUnderTest(pageSize: pageSize, preparing: !preparing)
        for place in Self.places {
            let page = one.page(&random, number: place.page)
            let extra = random.next()
            let (sealed, version) = try one.seal(page, extra: extra, at: place)
            #expect(sealed.withUnsafeBytes { PageCipher.version(of: $0) } == version)
            for cipher in [one, other] {
                let opened = try cipher.open(sealed, at: place)
                #expect(opened.page == page && opened.extra == extra && opened.version == version)
            }
            if place == .main(page: 1) { #expect(Array(sealed.prefix(16)) == one.header.bytes) }
        }
    }

    /// Nowhere but at its place does a page open, and with no other key, database or page size.
    @Test func bound() throws {
        var random = SeededGenerator()
        let one = try CipherUnderTest()
        let strangers = [
            try CipherUnderTest(key: 8), try CipherUnderTest(id: 2),
            try CipherUnderTest(key: 8, preparing: false),
        ]
        var places = Self.places
        places += [.wal(page: 2, frame: 8, commit: 9, salts: 5), .wal(page: 2, frame: 7, commit: 8, salts: 5)]
        places += [.wal(page: 2, frame: 7, commit: 9, salts: 6), .journal(page: 2, sequence: 4)]
        for place in places {
            let (sealed, _) = try one.seal(one.page(&random, number: place.page), at: place)
            for other in places where other != place {
                #expect(throws: PageError.damaged(page: other.page)) { try one.open(sealed, at: other) }
            }
            for stranger in strangers {
                #expect(throws: PageError.damaged(page: place.page)) { try stranger.open(sealed, at: place) }
            }
        }
    }

    /// What would not come back as it was is refused.
    @Test func refusedPages() throws {
        var random = SeededGenerator()
        let one = try CipherUnderTest()
        for offset in 4048..<4096 {
            var page = one.page(&random)
            page[offset] = 1
            #expect(throws: PageError.reservedBytesInUse(page: 2)) { try one.seal(page, at: .main(page: 2)) }
        }
        // Byte 20 says how many bytes SQLite leaves: at least the 48 of the seal.
        for (offset, change) in [(0, 1), (15, 1), (20, 48), (20, 48 ^ 47)] as [(Int, UInt8)] {
            var page = one.page(&random, number: 1)
            page[offset] ^= change
            for place in [PagePlace.main(page: 1), .wal(page: 1, frame: 1, commit: 1, salts: 1)] {
                #expect(throws: PageError.notFirstPage) { try one.seal(page, at: place) }
            }
        }
        var larger = one.page(&random, number: 1)
        larger[20] = 80
        let (sealed, _) = try one.seal(larger, at: .main(page: 1))
        #expect(try one.open(sealed, at: .main(page: 1)).page == larger)
        #expect(throws: PageError.damaged(page: 2)) {
            try one.seal([UInt8](repeating: 0, count: 512), at: .main(page: 2))
        }
    }

    /// The same page is never sealed the same way, and pages of many epochs open.
    @Test func epochs() throws {
        var random = SeededGenerator()
        let page = try CipherUnderTest().page(&random)
        var sealed: [[UInt8]] = []
        for _ in 0..<200 { sealed.append(try CipherUnderTest().seal(page, at: .main(page: 2)).sealed) }
        #expect(Set(sealed.map { Array($0[4056..<4068]) }).count == 200)
        #expect(Set(sealed.map { Array($0[4068..<4080]) }).count == 200)
        let reader = try CipherUnderTest()
        for sealed in sealed + sealed.reversed() { #expect(try reader.open(sealed, at: .main(page: 2)).page == page) }
    }

    @Test func threads() async throws {
        let one = try CipherUnderTest()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<12 {
                group.addTask {
                    var random = SeededGenerator()
                    for number in 2..<UInt32(truncatingIfNeeded: TestScale.count(200, soak: 20_000)) {
                        let page = one.page(&random)
                        let (sealed, version) = try one.seal(page, extra: 4, at: .main(page: number))
                        let opened = try one.open(sealed, at: .main(page: number))
                        #expect(opened.page == page && opened.version == version)
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
