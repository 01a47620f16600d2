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
        // Nothing of the data shows.
        if size >= 64 { #expect(try file.bytes.range(of: data.prefix(64)) == nil) }
    }
}
