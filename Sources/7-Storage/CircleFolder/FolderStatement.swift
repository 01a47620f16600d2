import Bytes
import FoundationEssentials
import VaultInterface

/// What a carrier says of how far it has read each member's files, and written its own; the vault signs it, and those
/// of others come back.
///
/// For each member: number (4), segment (4), offset (8) and chain value (32), behind the last group that held more than
/// heads. A circle with more members than fit names some of them each time.
struct FolderStatement: Equatable {
    var places: [UInt32: SegmentFile.Place] = [:]

    /// The most members that a statement names.
    static let most = 64
    private static let size = 48

    /// - Parameter own: The member whose statement it is; it is always named.
    init(_ places: [UInt32: FolderPlaces.Member], own: UInt32) {
        let told = places.mapValues(\.told).filter { $0.value.segment > 0 || $0.value.offset > SegmentFile.headSize }
        guard told.count > Self.most else {
            self.places = told
            return
        }
        // The same ones until their places change, so that a circle at rest has nothing new to say.
        let seed = told[own]?.offset ?? 0
        let numbers = told.keys.filter { $0 != own }.sorted { Self.rank($0, seed) < Self.rank($1, seed) }
        let chosen = Set(numbers.prefix(Self.most - 1))
        self.places = told.filter { $0.key == own || chosen.contains($0.key) }
    }

    private static func rank(_ number: UInt32, _ seed: Int) -> UInt64 {
        var value =
            UInt64(truncatingIfNeeded: number) &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(truncatingIfNeeded: seed)
            &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 31)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 29)
    }

    /// Bytes of another form say nothing.
    init(decoding bytes: Data) {
        guard bytes.count.isMultiple(of: Self.size), bytes.count <= Self.most * Self.size else { return }
        for start in stride(from: bytes.startIndex, to: bytes.endIndex, by: Self.size) {
            let part = bytes[start..<(start + Self.size)]
            guard let place = SegmentFile.Place(decoding: part.dropFirst(4)) else { continue }
            places[UInt32(bigEndianBytes: part.prefix(4))] = place
        }
    }

    var encoded: Data {
        places.sorted { $0.key < $1.key }.reduce(into: Data()) { bytes, entry in
            bytes.append(bigEndian: entry.key)
            entry.value.append(to: &bytes)
        }
    }
}
