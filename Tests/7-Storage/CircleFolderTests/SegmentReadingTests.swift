import Bytes
import Foundation
import TestSupport
import Testing
import VaultInterface

@testable import CircleFolder

/// Reading files that grow, arrive in pieces, or are not what members write.
@Suite struct SegmentReadingTests {
    private let place: TemporaryFolder
    private let circle = Data(repeating: 1, count: 16)

    init() throws { place = try TemporaryFolder() }

    private func object(_ number: Int, bytes: Int = 1) -> CircleObject {
        CircleObject(
            .record, key: Data(UInt64(clamping: number).bigEndianBytes),
            value: Data(repeating: UInt8(truncatingIfNeeded: number), count: bytes))
    }

    private func start(_ segment: UInt32 = 0, before: Data = Data(count: 32)) -> (bytes: Data, place: SegmentFile.Place)
    {
        SegmentFile.head(circle: circle, member: 7, segment: segment, before: before)
    }

    private func files() -> MemberFiles { MemberFiles(SharedFolder(path: place.path), circle, 7, after: nil) }

    private func write(_ bytes: Data, _ name: String) throws {
        try FolderContents.write(bytes, to: place.path(of: name))
    }

    /// Each byte of a file is read a few times, however small its frames are.
    @Test func smallFramesAreReadInOneGo() throws {
        var (bytes, end) = start()
        for number in 0..<TestScale.count(4_000, soak: 20_000) {
            let group = SegmentFile.group([object(number)], after: end)
            bytes += group.bytes
            end = group.place
        }
        let source = SegmentSource(Array(bytes))
        var scan = SegmentScan(circle, 7, 0, before: Data(count: 32))
        var count = 0
        while let group = try scan.next(in: source) { count += group.objects.count }
        #expect(count == TestScale.count(4_000, soak: 20_000) && scan.place == end)
        #expect(source.asked < 4 * bytes.count, "\(source.asked) of \(bytes.count)")
    }

    /// What was not committed yet is not read again at each look, and is read when its commit comes.
    @Test func anUnfinishedTailIsReadOnce() throws {
        let (head, place) = start()
        let objects = (0..<20).map { object($0, bytes: 50_000) }
        let group = SegmentFile.group(objects, after: place)
        let whole = Array(head + group.bytes)
        var scan = SegmentScan(circle, 7, 0, before: Data(count: 32))
        var asked = 0
        for size in stride(from: 0, to: whole.count, by: 9_999) {
            let source = SegmentSource(Array(whole.prefix(size)))
            #expect(try scan.next(in: source) == nil)
            asked += source.asked
        }
        #expect(asked < 2 * whole.count, "\(asked) of \(whole.count)")
        let last = SegmentSource(whole)
        #expect(try scan.next(in: last)?.objects == objects)
        #expect(last.asked < 2 * whole.count)
    }

    /// What follows the last commit may be exchanged: by what was written there in the end, or by zeros before.
    @Test func anExchangedTailIsReadAgain() throws {
        let (head, begin) = start()
        let (first, second) = (
            SegmentFile.group([object(1, bytes: 500), object(2, bytes: 500)], after: begin),
            SegmentFile.group([object(3, bytes: 400), object(4, bytes: 700)], after: begin)
        )
        for cut in stride(from: 0, to: first.bytes.count - 40, by: 37) {
            var scan = SegmentScan(circle, 7, 0, before: Data(count: 32))
            #expect(try scan.next(in: SegmentSource(Array(head + first.bytes.prefix(cut)))) == nil)
            #expect(try scan.next(in: SegmentSource(Array(head + second.bytes)))?.objects.count == 2)
            // The room is there before the bytes are.
            var other = SegmentScan(circle, 7, 0, before: Data(count: 32))
            let zeros = Data(count: first.bytes.count - cut)
            #expect(try other.next(in: SegmentSource(Array(head + first.bytes.prefix(cut) + zeros))) == nil)
            #expect(try other.next(in: SegmentSource(Array(head + first.bytes)))?.objects.count == 2)
        }
        var scan = SegmentScan(circle, 7, 0, before: Data(count: 32))
        #expect(try scan.next(in: SegmentSource(Array(repeating: 0, count: 4_096))) == nil)
    }

    /// The next segment may come before the rest of the one before it.
    @Test func segmentsInAnyOrder() throws {
        let (head, begin) = start()
        let first = SegmentFile.group([object(1, bytes: 600_000), object(2, bytes: 600_000)], after: begin)
        let (nextHead, nextBegin) = start(1, before: first.place.chain)
        let second = SegmentFile.group([object(3)], after: nextBegin)
        var files = files()
        try write(nextHead + second.bytes, SegmentFile.name(1))
        #expect(files.next() == nil && files.fault == nil)
        try write(head + first.bytes.prefix(700_000), SegmentFile.name(0))
        #expect(files.next() == nil && files.fault == nil)
        try write(head + first.bytes, SegmentFile.name(0))
        #expect(files.next()?.objects.count == 2)
        #expect(files.next()?.objects == [object(3)])
        #expect(files.next() == nil && files.fault == nil && files.copies.isEmpty)
        #expect(files.line.place == second.place)
    }

    /// A file that is away is told, and read on when it comes back.
    @Test func aFileThatIsAway() throws {
        let (head, begin) = start()
        let first = SegmentFile.group([object(1)], after: begin)
        let second = SegmentFile.group([object(2)], after: first.place)
        let path = place.path(of: SegmentFile.name(0))
        var files = files()
        #expect(files.next() == nil && files.fault == nil)
        try write(head + first.bytes, SegmentFile.name(0))
        #expect(files.next()?.objects == [object(1)])
        for _ in 0..<2 {
            try? FileManager.default.removeItem(atPath: path)
            #expect(files.next() == nil && files.fault == .changed)
        }
        try write(head + first.bytes, SegmentFile.name(0))
        #expect(files.next() == nil && files.fault == nil)
        try write(head + first.bytes + second.bytes, SegmentFile.name(0))
        #expect(files.next()?.objects == [object(2)] && files.fault == nil)
    }

    /// A file that another one took the place of, and copies beside it, are read by themselves; the line waits.
    @Test func everyCopyIsRead() throws {
        let (head, begin) = start()
        let common = SegmentFile.group([object(1)], after: begin)
        let (one, other) = (
            SegmentFile.group([object(2)], after: common.place), SegmentFile.group([object(3)], after: common.place)
        )
        var files = files()
        try write(head + common.bytes + one.bytes, SegmentFile.name(0))
        #expect(files.next()?.objects == [object(1), object(2)])
        try write(
            head + common.bytes + other.bytes, "00000000.sync-conflict-20260101-120000-ABCDEFG.seg")
        #expect(files.next()?.objects == [object(1), object(3)])
        #expect(files.copies.count == 1 && files.fault == nil && files.line.place == one.place)
        #expect(files.next() == nil)
        try write(head + common.bytes + other.bytes, SegmentFile.name(0))
        #expect(files.next()?.objects == [object(1), object(3)])
        #expect(files.fault == .changed && files.line.place == one.place)
        #expect(files.next() == nil && files.fault == .changed)
        // The line goes on where its file comes back.
        let more = SegmentFile.group([object(4)], after: one.place)
        try write(head + common.bytes + one.bytes + more.bytes, SegmentFile.name(0))
        #expect(files.next()?.objects == [object(4)])
        #expect(files.fault == nil && files.line.place == more.place)
    }

    @Test func placesOfTheVault() throws {
        var places = FolderPlaces()
        #expect(FolderPlaces(decoding: places.encoded) == places)
        places.intended = [start().place, start(1).place]
        places.members[7] = FolderPlaces.Member(
            place: SegmentFile.Place(segment: 3, offset: 1 << 33, chain: Data(repeating: 5, count: 32)),
            told: start().place, lacking: 1_790_000_000_000)
        places.members[9] = FolderPlaces.Member(place: start().place, told: start().place)
        #expect(FolderPlaces(decoding: places.encoded) == places)
        for bytes in [Data(), Data(count: 48), places.encoded.dropLast(), places.encoded + [0], Data(count: 101)] {
            #expect(FolderPlaces(decoding: bytes) == FolderPlaces())
        }
    }

    /// Folders of numbers that no member has are not looked into, and what is left out is told.
    @Test func foldersOfNobody() throws {
        for number in UInt32(1)...20 {
            let name = Data(number.bigEndianBytes).hexadecimal()
            try FileManager.default.createDirectory(
                atPath: place.path(of: name), withIntermediateDirectories: false)
        }
        let (head, begin) = SegmentFile.head(circle: circle, member: 3, segment: 0, before: Data(count: 32))
        let group = SegmentFile.group([object(1)], after: begin)
        try write(head + group.bytes, "00000003/" + SegmentFile.name(0))
        var reader = FolderReader(SharedFolder(path: place.path), circle, most: 12)
        #expect(reader.next(through: 5).map(\.member) == [3])
        #expect(reader.next(through: 5).isEmpty && reader.members.count == 5 && reader.leftOut == 0)
        #expect(reader.next(through: nil).isEmpty && reader.leftOut == 8)
    }
}
