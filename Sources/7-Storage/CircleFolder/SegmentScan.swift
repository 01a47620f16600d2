import Bytes
import CLibrary
import Crypto
import FoundationEssentials
import VaultInterface

/// The bytes of a segment, of which parts are read.
final class SegmentSource {
    let size: Int
    private let file: Int32
    private let contents: [UInt8]
    /// What was read last, and where it begins.
    private var part: [UInt8] = []
    private var start = 0
    /// How many bytes were asked for.
    private(set) var asked = 0
    /// How many bytes are read at once: most frames are much shorter.
    private static let step = 1 << 16

    /// - Parameter file: Closed in the end.
    init(_ file: Int32, size: Int) { (self.file, self.size, contents) = (file, size, []) }

    init(_ contents: [UInt8]) { (file, size, self.contents) = (-1, contents.count, contents) }

    deinit { if file >= 0 { close(file) } }

    /// Returns nil if the file does not have so many bytes there.
    func bytes(at offset: Int, count: Int) -> ArraySlice<UInt8>? {
        guard count <= size - offset else { return nil }
        asked += count
        if file < 0 { return contents[offset..<(offset + count)] }
        if offset < start || offset + count > start + part.count {
            let wanted = min(max(count, Self.step), size - offset)
            part = [UInt8](unsafeUninitializedCapacity: wanted) { room, filled in
                filled = max(
                    0, SystemCall.readAll(into: UnsafeMutableRawBufferPointer(room), from: file, at: Int64(offset)))
            }
            start = offset
        }
        // It may have become shorter meanwhile.
        guard offset + count <= start + part.count else { return nil }
        return part[(offset - start)..<(offset - start + count)]
    }
}

/// How far a segment was read. Each byte is looked at once, however often the file grows and wherever it ends.
struct SegmentScan {
    let circle: Data
    let member: UInt32
    let segment: UInt32
    /// Behind the last commit; nil until the head of a segment that stands by itself was read.
    private(set) var place: SegmentFile.Place?
    /// The chain value in the head; nil if it is not known here.
    private let before: Data?
    /// Behind the last whole frame. What is between the place and here was not committed yet.
    private var scanned: SegmentFile.Place?
    private var uncommitted = 0
    /// The bytes before that place: others than these, and the file was exchanged.
    private var tail: [UInt8] = []

    /// Begins with the head of a segment.
    ///
    /// - Parameter before: The chain value at the end of the segment before; nil takes any.
    init(_ circle: Data, _ member: UInt32, _ segment: UInt32, before: Data?) {
        (self.circle, self.member, self.segment, self.before) = (circle, member, segment, before)
        place = before.map { SegmentFile.head(circle: circle, member: member, segment: segment, before: $0).place }
    }

    /// Goes on behind a commit.
    init(_ circle: Data, _ member: UInt32, after place: SegmentFile.Place) {
        (self.circle, self.member, self.place, segment) = (circle, member, place, place.segment)
        before = segment == 0 ? Data(count: 32) : nil
    }

    /// Goes on behind what this process wrote.
    mutating func advance(to end: SegmentFile.Place) { (place, scanned, uncommitted) = (end, nil, 0) }

    /// Whether the scan is at the beginning of the segment.
    var isAtStart: Bool { place.map { $0.offset == SegmentFile.headSize } ?? true }

    /// Reads the next groups, with about as many objects as one operation takes.
    ///
    /// - Returns: Nil if nothing more was committed.
    mutating func next(in source: SegmentSource) throws(SegmentFile.Fault) -> SegmentFile.Group? {
        guard let head = source.bytes(at: 0, count: SegmentFile.headSize).map({ Data($0) }),
            head.contains(where: { $0 != 0 })
        else {
            // The head has not arrived yet.
            if isAtStart { return nil }
            throw .changed
        }
        let (expected, start) = SegmentFile.head(
            circle: circle, member: member, segment: segment, before: before ?? Data(head.suffix(32)))
        guard head == expected else { throw .changed }
        if place == nil { place = start }
        guard let place, source.size >= place.offset, isLastCommit(place, in: source) else { throw .changed }
        if let scanned, scanned != place, Self.tail(in: source, before: scanned.offset) == tail {
            // What was not committed may have been exchanged: then all of it is read again.
            do throws(SegmentFile.Fault) {
                return try advance(in: source, from: scanned, after: place)
            } catch {}
        }
        return try advance(in: source, from: place, after: place)
    }

    /// Whether the file has the commit that was read last. It stands for all before it.
    private func isLastCommit(_ place: SegmentFile.Place, in source: SegmentSource) -> Bool {
        guard place.offset > SegmentFile.headSize else { return true }
        guard let frame = source.bytes(at: place.offset - SegmentFile.commitSize, count: SegmentFile.commitSize) else {
            return false
        }
        return SegmentFile.chain(Data(frame.suffix(32)), frame) == place.chain
    }

    private mutating func advance(
        in source: SegmentSource, from begin: SegmentFile.Place, after place: SegmentFile.Place
    ) throws(SegmentFile.Fault) -> SegmentFile.Group? {
        var (position, end, frames) = (begin, SegmentFile.Place?.none, begin == place ? 0 : uncommitted)
        var sinceCommit = frames
        while let frame = try SegmentFile.frame(in: source, at: position.offset) {
            let kind = frame[frame.startIndex + 4]
            if kind == SegmentFile.commit,
                frame.count != SegmentFile.commitSize || frame.suffix(32).allSatisfy({ $0 == 0 })
            {
                // Its room is there before its bytes are.
                break
            }
            frames += 1
            sinceCommit += 1
            let chain = SegmentFile.chain(position.chain, frame)
            if kind == SegmentFile.commit {
                guard Data(frame.suffix(32)) == position.chain else { throw .changed }
            }
            position = SegmentFile.Place(segment: segment, offset: position.offset + frame.count, chain: chain)
            if kind == SegmentFile.commit {
                (end, sinceCommit) = (position, 0)
                // Commits without objects are many in no file that members wrote.
                if frames >= CircleObject.most / 2 { break }
            }
        }
        (scanned, uncommitted, tail) = (position, sinceCommit, Self.tail(in: source, before: position.offset))
        guard let end else { return nil }
        self.place = end
        return SegmentFile.Group(
            objects: try SegmentFile.objects(in: source, from: place.offset, to: end.offset), place: end)
    }

    private static func tail(in source: SegmentSource, before offset: Int) -> [UInt8] {
        let count = min(offset, 32)
        return source.bytes(at: offset - count, count: count).map { Array($0) } ?? []
    }
}
