import Bytes
import FoundationEssentials

/// How far a carrier has read and written, as the vault keeps it.
///
///     offset  bytes  field
///          0      8  "SKPLACES"
///          8      1  format, 1
///          9     88  the ends of the one or two groups that this vault was about to write, or zeros
///         97      4  number of members (n)
///        101 n × 100  number of the member (4), the place (44), the place behind the last objects (44), since when
///                   the folder lacks what others have read of it, in milliseconds since 1970 (8), or zero
///
/// A place is the segment (4), the offset (8) and the chain value (32).
struct FolderPlaces: Equatable {
    struct Member: Equatable {
        /// Where reading goes on.
        var place: SegmentFile.Place
        /// Behind the last group that held more than heads: what members tell each other, so that what they tell is
        /// nothing new to tell.
        var told: SegmentFile.Place
        /// Since when the folder lacks what others have read, in milliseconds since 1970; 0 if it does not.
        var lacking: Int64 = 0
    }

    var members: [UInt32: Member] = [:]
    /// The ends of the groups that this vault is about to write; at most two. What ends elsewhere was written by
    /// somebody else.
    var intended: [SegmentFile.Place] = []

    private static let magic = Data("SKPLACES".utf8) + [1]
    private static let placeSize = 44
    private static let headSize = 101
    private static let memberSize = 100

    init() {}

    /// Bytes of another form are read as nothing: the folder is then read from its beginning.
    init(decoding bytes: Data) {
        let bytes = Data(bytes)
        guard bytes.count >= Self.headSize, bytes.prefix(9) == Self.magic,
            (bytes.count - Self.headSize).isMultiple(of: Self.memberSize)
        else {
            return
        }
        intended = [bytes[9..<53], bytes[53..<97]].compactMap(SegmentFile.Place.init(decoding:))
        for start in stride(from: Self.headSize, to: bytes.count, by: Self.memberSize) {
            let part = bytes[start..<(start + Self.memberSize)]
            guard let place = SegmentFile.Place(decoding: part.dropFirst(4).prefix(44)),
                let told = SegmentFile.Place(decoding: part.dropFirst(48).prefix(44))
            else { continue }
            members[UInt32(bigEndianBytes: part.prefix(4))] = Member(
                place: place, told: told,
                lacking: Int64(clamping: UInt64(bigEndianBytes: part.suffix(8))))
        }
    }

    var encoded: Data {
        var bytes = Self.magic
        for place in intended.prefix(2) { place.append(to: &bytes) }
        bytes += Data(count: Self.placeSize * (2 - min(intended.count, 2)))
        bytes.append(bigEndian: UInt32(clamping: members.count))
        for (number, member) in members.sorted(by: { $0.key < $1.key }) {
            bytes.append(bigEndian: number)
            member.place.append(to: &bytes)
            member.told.append(to: &bytes)
            bytes.append(bigEndian: member.lacking)
        }
        return bytes
    }
}

extension SegmentFile.Place {
    /// Returns nil for zeros.
    init?(decoding bytes: Data) {
        guard bytes.count == 44, bytes.contains(where: { $0 != 0 }) else { return nil }
        self.init(
            segment: UInt32(bigEndianBytes: bytes.prefix(4)),
            offset: Int(clamping: UInt64(bigEndianBytes: bytes.dropFirst(4).prefix(8))), chain: Data(bytes.suffix(32)))
    }

    /// The segment (4), the offset (8), the chain value (32).
    func append(to bytes: inout Data) {
        bytes.append(bigEndian: segment)
        bytes.append(bigEndian: UInt64(clamping: offset))
        bytes.append(chain)
    }

    /// Whether it is further in the files of a member.
    func isBehind(_ other: SegmentFile.Place) -> Bool { (segment, offset) > (other.segment, other.offset) }
}
