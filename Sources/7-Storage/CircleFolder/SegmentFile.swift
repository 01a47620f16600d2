import Bytes
import Crypto
import FoundationEssentials
import Frames
import VaultInterface

/// A file of a member. It only grows, until the next one begins.
///
///     offset  bytes  field
///          0      8  "SKSEGMNT"
///          8      1  format, 1
///          9     16  circle
///         25      4  member
///         29      4  number of the segment
///         33     32  chain value at the end of the segment before; zeros in the first
///         65         frames
///
/// A frame is the length of what follows (4), its kind (1), and for an object the length (1) and bytes of its key, and
/// its value. Kind 0 is a commit, which holds the chain value (32) of all before it. The chain value is the SHA-256
/// digest of the head, and with each frame that of the value before ‖ the frame.
///
/// What follows the last commit has not arrived yet. So a file that was copied while it grew is a shorter file.
enum SegmentFile {
    static let headSize = 65
    /// A segment that is longer gets no further frames.
    static let fullSize = 1 << 20
    /// No segment is longer: it has at most one group of objects more than ``fullSize``.
    static let mostBytes = 8 << 20
    private static let magic = "SKSEGMNT"
    private static let commit: UInt8 = 0

    /// Where a reader goes on: behind a commit.
    struct Place: Equatable {
        var segment: UInt32
        var offset: Int
        /// The chain value there.
        var chain: Data
    }

    static func name(_ number: UInt32) -> String { Data(number.bigEndianBytes).hexadecimal() + ".seg" }

    /// The head of a segment, and the place behind it.
    static func head(
        circle: Data, member: UInt32, segment: UInt32, before: Data
    ) -> (bytes: Data, place: Place) {
        let buffer = FrameBuffer()
        buffer.appendRaw(magic.utf8)
        buffer.append(UInt8(1))
        buffer.appendRaw(circle)
        buffer.append(member)
        buffer.append(segment)
        buffer.appendRaw(before)
        let bytes = Data(buffer.bytes)
        return (bytes, Place(segment: segment, offset: bytes.count, chain: digest(bytes)))
    }

    /// Frames for objects, and a commit.
    static func group(_ objects: [CircleObject], after place: Place) -> (bytes: Data, place: Place) {
        var (bytes, place) = (Data(), place)
        func add(_ kind: UInt8, _ body: Data) {
            let frame = Data(UInt32(truncatingIfNeeded: body.count + 1).bigEndianBytes) + [kind] + body
            bytes += frame
            place.chain = digest(place.chain + frame)
        }
        for object in objects {
            add(object.kind.rawValue, [UInt8(truncatingIfNeeded: object.key.count)] + object.key + object.value)
        }
        add(commit, place.chain)
        place.offset += bytes.count
        return (bytes, place)
    }

    private static func digest(_ bytes: Data) -> Data { Data(SHA256.hash(data: bytes)) }

    /// Objects up to a commit, and the place behind it.
    struct Group {
        var objects: [CircleObject]
        var place: Place
    }

    /// What keeps a file from being read on.
    enum Fault: Error, Equatable {
        /// It is shorter than it was, or another one.
        case changed
        /// It was not written by a member in this form.
        case malformed
    }

    /// Reads the groups behind a place.
    ///
    /// - Parameters:
    ///   - bytes: The whole file.
    ///   - place: Nil to begin with the file's head.
    ///   - before: The chain value at the end of the segment before.
    static func groups(
        in bytes: Data, circle: Data, member: UInt32, segment: UInt32, after place: Place?, before: Data
    ) throws(Fault) -> [Group] {
        let (head, start) = head(circle: circle, member: member, segment: segment, before: before)
        var place = place ?? start
        // A file whose head has not arrived whole.
        guard bytes.count >= headSize else {
            if place.offset > headSize { throw .changed }
            return []
        }
        guard bytes.prefix(headSize) == head, bytes.count >= place.offset else { throw .changed }
        var (groups, objects): ([Group], [CircleObject]) = ([], [])
        var (offset, chain) = (place.offset, place.chain)
        while bytes.count - offset >= 4 {
            let size = Int(UInt32(bigEndianBytes: bytes[offset..<(offset + 4)]))
            guard size > 0, size <= CircleObject.largest + CircleObject.longestKey + 2 else { throw .malformed }
            guard bytes.count - offset - 4 >= size else { break }
            let frame = bytes[offset..<(offset + 4 + size)]
            let body = frame.dropFirst(4)
            offset += frame.count
            if body[body.startIndex] == commit {
                guard body.dropFirst() == chain else { throw .changed }
                chain = digest(chain + frame)
                place = Place(segment: segment, offset: offset, chain: chain)
                groups.append(Group(objects: objects, place: place))
                objects = []
                continue
            }
            chain = digest(chain + frame)
            // A kind that this version does not know comes from a later one: the vault cannot use it either.
            guard let kind = CircleObject.Kind(rawValue: body[body.startIndex]) else { continue }
            let rest = body.dropFirst()
            guard let length = rest.first.map({ Int($0) }), length <= CircleObject.longestKey, rest.count > length
            else {
                throw .malformed
            }
            objects.append(
                CircleObject(kind, key: Data(rest.dropFirst().prefix(length)), value: Data(rest.dropFirst(1 + length))))
        }
        return groups
    }
}

/// How far a carrier has read, as the vault keeps it: for each member its number (4), the segment (4), the offset (8)
/// and the chain value (32).
struct FolderPlaces: Equatable {
    var places: [UInt32: SegmentFile.Place] = [:]

    init() {}

    /// Bytes of another form are read as nothing: the folder is then read from its beginning.
    init(decoding bytes: Data) {
        guard bytes.count.isMultiple(of: 48) else { return }
        for start in stride(from: bytes.startIndex, to: bytes.endIndex, by: 48) {
            let part = bytes[start..<(start + 48)]
            let offset = Int(clamping: UInt64(bigEndianBytes: part.dropFirst(8).prefix(8)))
            places[UInt32(bigEndianBytes: part.prefix(4))] = SegmentFile.Place(
                segment: UInt32(bigEndianBytes: part.dropFirst(4).prefix(4)), offset: offset,
                chain: Data(part.suffix(32)))
        }
    }

    var encoded: Data {
        places.sorted { $0.key < $1.key }.reduce(into: Data()) { bytes, entry in
            bytes.append(bigEndian: entry.key)
            bytes.append(bigEndian: entry.value.segment)
            bytes.append(bigEndian: UInt64(clamping: entry.value.offset))
            bytes.append(entry.value.chain)
        }
    }
}
