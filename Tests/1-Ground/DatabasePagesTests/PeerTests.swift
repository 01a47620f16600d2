import Bytes
import Crypto
import Foundation
import TestSupport
import Testing

@testable import DatabasePages

/// Pages and indexes go back and forth between this package and `Tests/Support/Vectors/database-pages.py`, which was
/// written from the description of the format.
@Suite struct PeerTests {
    private static let peer = Result {
        try PythonPeer(
            Repository.file("Tests/Support/Vectors/database-pages.py").path)
    }

    @discardableResult
    private func peer(_ arguments: [String]) throws -> [String] {
        try Self.peer.get().ask(arguments).split(separator: "\n").map(String.init)
    }

    private let key = String(repeating: "07", count: 32)
    private let id = String(repeating: "01", count: 10)

    private func name(_ place: PagePlace) -> String {
        switch place {
        case .main(let page): "main:\(page):0:0:0"
        case .wal(let page, let frame, let commit, let salts): "wal:\(page):\(frame):\(commit):\(salts)"
        case .journal(let page, let sequence): "journal:\(page):0:0:\(sequence)"
        }
    }

    @Test(arguments: [4096, 65_536])
    func pages(size: Int) throws {
        var random = SeededGenerator()
        let folder = try TemporaryFolder()
        let (from, to) = (folder.path(of: "from"), folder.path(of: "to"))
        let cipher = try CipherUnderTest(pageSize: size)
        for place in CipherTests.places {
            let (page, extra) = (cipher.page(&random, number: place.page), random.next())
            let (sealed, version) = try cipher.seal(page, extra: extra, at: place)
            try FolderContents.write(Data(sealed), to: from)
            let said = try peer(["open", key, id, "\(size)", name(place), from, to])
            #expect(said == ["\(version.rawValue) \(extra)"])
            #expect(try Data(contentsOf: URL(filePath: to)) == Data(page))

            try FolderContents.write(Data(page), to: from)
            let (epoch, nonce) = (Data(random.bytes(12)).hexadecimal, Data(random.bytes(12)).hexadecimal)
            try peer(["seal", key, id, "\(size)", name(place), epoch, nonce, "\(extra)", from, to])
            let opened = try cipher.open([UInt8](Data(contentsOf: URL(filePath: to))), at: place)
            #expect(opened.page == page && opened.extra == extra)
        }
    }

    /// What is in force, as the peer says it.
    private struct Peers: Codable, Equatable {
        var sequence, salts, former: UInt64
        var pages, frames: UInt32
        var versions: [[UInt64]]
        var end: Int

        var state: PageScript.State {
            var state = PageScript.State()
            for version in versions { state.versions[UInt32(truncatingIfNeeded: version[0])] = version[1] }
            (state.pageCount, state.logFrames, state.logSalts, state.formerSalts) = (pages, frames, salts, former)
            return state
        }
    }

    @Test func indexesOfOurs() throws {
        var random = SeededGenerator()
        let test = try IndexUnderTest()
        var script = PageScript(seed: random.next())
        for round in 0..<TestScale.count(6, soak: 60) {
            for _ in 0..<60 { try test.index.perform(script.next()) }
            // What somebody left who was killed.
            let torn = round % 2 == 0
            let end = try test.bytes.count
            if torn { try test.put(test.bytes + [0, 0, 0, 2, 0xFF, 0xFF, 0xFF, 0xFD] + random.bytes(40)) }
            let said = try peer(["read", key, id, test.path]).joined()
            let found = try JSONDecoder().decode(Peers.self, from: Data(said.utf8))
            #expect(found.state == script.state && found.sequence == test.index.sequence, "seed \(random.seed)")
            #expect(found.end == end)
        }
    }

    private struct Group: Codable {
        var sequence, salts, former: UInt64
        var pages, frames: UInt32
        var batches: [[[UInt64]]]
    }

    @Test func indexesOfThePeer() throws {
        var random = SeededGenerator()
        let folder = try TemporaryFolder()
        let (groups, path) = (folder.path(of: "groups"), folder.path(of: "index"))
        for round in 0..<TestScale.count(3, soak: 30) {
            var expected = PageScript.State()
            var made: [Group] = []
            for number in 1...UInt64(8) {
                let count = UInt32(truncatingIfNeeded: 1 + random.int(below: 500))
                var batches: [[[UInt64]]] = []
                for _ in 0...random.int(below: 3) {
                    batches.append(
                        (0..<random.int(below: 50)).map { _ in
                            [UInt64(clamping: 1 + random.int(below: Int(count))), random.next() | 1]
                        })
                }
                made.append(
                    Group(
                        sequence: number, salts: number, former: number - 1, pages: count, frames: 3, batches: batches))
                for entry in batches.joined() { expected.versions[UInt32(truncatingIfNeeded: entry[0])] = entry[1] }
                expected.versions = expected.versions.filter { $0.key <= count }
                (expected.pageCount, expected.logFrames) = (count, 3)
                (expected.logSalts, expected.formerSalts) = (number, number - 1)
            }
            try FolderContents.write(JSONEncoder().encode(made), to: groups)
            try peer(["write", key, id, groups, path])
            let index = try PageIndex.open(path, database: .ofTests, key: .ofTests())
            #expect(index.state == expected && index.sequence == 8, "round \(round), seed \(random.seed)")
            try index.set([1], to: 77)
            try index.flush(pageCount: nil, durably: false)
            let said = try peer(["read", key, id, path]).joined()
            let found = try JSONDecoder().decode(Peers.self, from: Data(said.utf8))
            #expect(found.state == index.state && found.sequence == 9)
        }
    }

    @Test func publishedVectors() throws {
        let url = try #require(Bundle.module.url(forResource: "Fixtures/v1", withExtension: "txt"))
        let published = try String(contentsOf: url, encoding: .utf8)
        #expect(try peer(["vector"]).joined(separator: "\n") + "\n" == published)
        var values: [String: [UInt8]] = [:]
        for line in published.split(separator: "\n") {
            guard let space = line.lastIndex(of: " ") else { continue }
            let digits = Array(line[line.index(after: space)...].utf8)
            values[String(line[..<space])] = stride(from: 0, to: digits.count, by: 2).compactMap {
                UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
            }
        }
        let key = try SecretBytes(count: 32) { $0.copyBytes(from: 0...31) }
        let database = try #require(DatabaseID(0x40...0x49))
        let header = DatabaseHeader(geometry: try #require(PageGeometry(pageSize: 512)), database: database)
        let nonce = Array(UInt8(0x60)...0x6B)
        let pageKey = key.derived(Array("page".utf8) + Array(0x50...0x5B), database)
        #expect(pageKey.withUnsafeBytes { Array($0) } == values["page key"])
        #expect(
            key.derived(Array("index".utf8) + Array(0x50...0x5B), database).withUnsafeBytes { Array($0) }
                == values["index key"])
        let numbers = Array(UInt8(0)..<232) + Array(0..<232)
        var first = DatabaseHeader.plainMagic + [UInt8](repeating: 0, count: 448)
        first[20] = 48
        let vectors: [(PagePlace, [UInt8], UInt64)] = [
            (.main(page: 1), first, 0),
            (.wal(page: 2, frame: 3, commit: 4, salts: 5), numbers, 0x0102_0304_0506_0708),
            (.journal(page: 2, sequence: 6), numbers, 7),
        ]
        let keys = [true, false].map { PageKey(pageKey, preparing: $0) }
        #expect(keys.map(\.isPrepared) == [true, false])
        for (place, text, extra) in vectors {
            let expected = try #require(values[name(place)])
            let start = place == .main(page: 1) ? 16 : 0
            let binding = PageBinding(PageBinding.Start(header), place)
            for pageKey in keys {
                var sealed = expected
                for index in start..<472 { sealed[index] = 0 }
                for index in 496..<512 { sealed[index] = 0 }
                try sealed.withUnsafeMutableBytes { sealed in
                    let base = try #require(sealed.baseAddress)
                    try text[start...].withUnsafeBytes { text in
                        try nonce.withUnsafeBytes { nonce in
                            try pageKey.seal(
                                text, extra: extra, binding: binding, nonce: #require(nonce.baseAddress),
                                into: base + start, gap: 24)
                        }
                    }
                }
                #expect(sealed == expected)
            }
            let cipher = PageCipher(key: key, header: header)
            var page = [UInt8](repeating: 1, count: 512)
            let opened = try expected.withUnsafeBytes { expected in
                try page.withUnsafeMutableBytes { try cipher.open(expected, at: place, into: $0) }
            }
            #expect(page == text + [UInt8](repeating: 0, count: 48) && opened.extra == extra)
        }
        let folder = try TemporaryFolder()
        try Data(try #require(values["index"])).write(to: URL(filePath: folder.path(of: "index")))
        let index = try PageIndex.open(folder.path(of: "index"), database: database, key: key)
        #expect(index.sequence == 1 && index.pageCount == 2 && index.version(of: 1) == nil)
        #expect(index.version(of: 2)?.rawValue == 0x0102_0304_0506_0708)
    }
}

extension Data {
    fileprivate var hexadecimal: String { map { String(format: "%02x", $0) }.joined() }
}
