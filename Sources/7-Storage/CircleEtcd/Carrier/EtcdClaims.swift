#if HTTPClientSupport
import Bytes
import Foundation
import VaultInterface

/// The last versions of items that a vault has seen in etcd, of each member in each group. The carrier puts them into
/// its head, and compares them with those of other members.
///
/// Each is the group (16 bytes), the name of the item (16) and the version (12): its time (8) and its member (4).
/// Documentation/Specify/Formats/Circle.md specifies it.
struct EtcdClaims: Equatable {
    struct Writer: Hashable {
        var view: Data
        var member: UInt32
    }

    struct Claim: Equatable {
        var item: Data
        var time: UInt64
    }

    private(set) var last: [Writer: Claim] = [:]

    private static let size = 44
    /// The most that a head has room for.
    static let mostTold = CircleHead.longestStatement / size
    /// The most that a vault remembers: those with the latest times.
    static let mostKept = 256

    init() {}

    /// Bytes of another form say nothing.
    init(decoding bytes: Data) {
        guard bytes.count.isMultiple(of: Self.size), bytes.count <= Self.mostKept * Self.size else { return }
        for start in stride(from: bytes.startIndex, to: bytes.endIndex, by: Self.size) {
            let part = bytes[start..<(start + Self.size)]
            note(item: Data(part.prefix(32)), version: Data(part.suffix(12)))
        }
    }

    var encoded: Data { encoded(Self.mostKept) }

    /// What is said in a head.
    var statement: Data { encoded(Self.mostTold) }

    private func encoded(_ most: Int) -> Data {
        newestFirst.prefix(most).reduce(into: Data()) { bytes, entry in
            bytes += entry.key.view + entry.value.item
            bytes.append(bigEndian: entry.value.time)
            bytes.append(bigEndian: entry.key.member)
        }
    }

    private var newestFirst: [(key: Writer, value: Claim)] {
        last.sorted { first, second in
            guard first.value.time == second.value.time else { return first.value.time > second.value.time }
            return (first.key.member, first.key.view.hexadecimal()) < (second.key.member, second.key.view.hexadecimal())
        }
    }

    /// Takes note of a record that the vault took, or that it wrote.
    mutating func note(_ object: CircleObject) {
        guard object.kind == .record, let version = EtcdKeys.version(of: object.value) else { return }
        note(item: object.key, version: version)
    }

    private mutating func note(item key: Data, version: Data) {
        guard key.count == 32, version.count == 12 else { return }
        let writer = Writer(view: Data(key.prefix(16)), member: UInt32(bigEndianBytes: version.suffix(4)))
        let time = UInt64(bigEndianBytes: version.prefix(8))
        if let known = last[writer] {
            guard known.time < time else { return }
        } else if last.count >= Self.mostKept, let oldest = newestFirst.last?.key {
            last[oldest] = nil
        }
        last[writer] = Claim(item: Data(key.suffix(16)), time: time)
    }

    /// Those that are newer than what `own` has, in groups that the vault reads.
    ///
    /// - Parameter isMember: Whether a number is that of a member.
    func missing(in own: EtcdClaims, views: [Data], isMember: (UInt32) -> Bool) -> [(writer: Writer, claim: Claim)] {
        last.filter { writer, claim in
            (own.last[writer]?.time ?? 0) < claim.time && views.contains(writer.view) && isMember(writer.member)
        }.map { ($0.key, $0.value) }
    }
}
#endif
