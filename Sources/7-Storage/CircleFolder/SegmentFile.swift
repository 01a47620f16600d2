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
    static let commit: UInt8 = 0
    /// Of a commit's frame.
    static let commitSize = 37

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
            let frame = UInt32(truncatingIfNeeded: body.count + 1).bigEndianBytes + [kind] + body
            bytes += frame
            place.chain = chain(place.chain, frame[...])
        }
        for object in objects {
            add(object.kind.rawValue, [UInt8(truncatingIfNeeded: object.key.count)] + object.key + object.value)
        }
        add(commit, place.chain)
        place.offset += bytes.count
        return (bytes, place)
    }

    private static func digest(_ bytes: Data) -> Data { Data(SHA256.hash(data: bytes)) }

    /// The chain value behind a frame.
    static func chain(_ before: Data, _ frame: ArraySlice<UInt8>) -> Data {
        var hash = SHA256()
        hash.update(data: before)
        frame.withUnsafeBytes { hash.update(bufferPointer: $0) }
        return Data(hash.finalize())
    }

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

    /// The frame at a place, with its length; nil if it has not arrived whole.
    static func frame(in source: SegmentSource, at offset: Int) throws(Fault) -> ArraySlice<UInt8>? {
        guard let length = source.bytes(at: offset, count: 4) else { return nil }
        let size = Int(UInt32(bigEndianBytes: length))
        // Zeros are what a file system has in the place of bytes that it did not write yet.
        guard size > 0 else { return nil }
        guard size <= CircleObject.largest + CircleObject.longestKey + 2 else { throw .malformed }
        return source.bytes(at: offset, count: 4 + size)
    }

    /// The objects in frames that were read before.
    static func objects(in source: SegmentSource, from start: Int, to end: Int) throws(Fault) -> [CircleObject] {
        var (objects, offset) = ([CircleObject](), start)
        while offset < end, let frame = try frame(in: source, at: offset) {
            offset += frame.count
            let body = frame.dropFirst(4)
            // A kind that this version does not know comes from a later one: the vault cannot use it either.
            guard body[body.startIndex] != commit, let kind = CircleObject.Kind(rawValue: body[body.startIndex]) else {
                continue
            }
            let rest = body.dropFirst()
            guard let length = rest.first.map({ Int($0) }), length <= CircleObject.longestKey, rest.count > length
            else { throw .malformed }
            objects.append(
                CircleObject(kind, key: Data(rest.dropFirst().prefix(length)), value: Data(rest.dropFirst(1 + length))))
        }
        return objects
    }
}
