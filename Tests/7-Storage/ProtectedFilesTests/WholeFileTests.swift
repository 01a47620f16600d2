import Foundation
import KeychainModel
import TestSupport
import Testing

@testable import ProtectedFiles

/// Files that are written from beginning to end.
@Suite struct WholeFileTests {
    static let group = 128 * 65_536

    @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 300_000, group - 1, group, group + 1, 2 * group + 1])
    func comesBack(size: Int) throws {
        var random = SeededGenerator()
        let data = random.bytes(size)
        let file = try FileUnderTest(data)
        #expect(try file.contents() == data)
        #expect(try file.open().verify().isSound)
        #expect(try UInt64(file.bytes.count) == FileLayout.size(UInt64(size)))
        let open = try file.open()
        for _ in 0..<20 where size > 0 {
            let start = random.int(below: size)
            let count = 1 + random.int(below: min(size - start, 200_000))
            #expect(try open.read(count, at: UInt64(start)) == data[start..<(start + count)])
        }
        #expect(try open.read(10, at: UInt64(size)).isEmpty)
        #expect(try chunks(of: open, from: 0) == data)
        if size > 70_000 { #expect(try chunks(of: open, from: 70_000) == data[70_000...]) }
        // Nothing of the data shows.
        if size >= 64 { #expect(try file.bytes.range(of: data.prefix(64)) == nil) }
    }

    @Test func handsOutHolesAndChangesToo() throws {
        let test = try FileUnderTest(Data(repeating: 1, count: 10))
        let writer = try test.open(.writing)
        try writer.truncate(to: 200_000)
        #expect(try chunks(of: writer, from: 0) == Data(repeating: 1, count: 10) + Data(count: 199_990))
        let reader = try test.open()
        #expect(try reader.readChunk(at: 0) { _ in } == 65_536)
        // Chunks that are held count no more once somebody has changed them.
        try writer.write(Data("changed".utf8), at: 65_530)
        let expected = try test.contents()
        #expect(try chunks(of: writer, from: 0) == expected)
        #expect(try chunks(of: reader, from: 0) == expected)
        reader.discardKey()
        #expect(throws: SealedFileError.keyDiscarded(path: test.path)) { try reader.readChunk(at: 0) { _ in } }
    }

    private func chunks(of file: SealedFile, from start: UInt64) throws -> Data {
        var (data, offset) = (Data(), start)
        while true {
            let count = try file.readChunk(at: offset) { data.append(contentsOf: $0) }
            guard count > 0 else { return data }
            offset += UInt64(count)
        }
    }
}
