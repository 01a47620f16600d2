import Bytes
import FoundationEssentials
import Frames

/// The 16 bytes that name a circle, a view, an item in a view, or an invitation.
package struct Identifier16: Sendable, Hashable, Comparable, CustomStringConvertible {
    package static let size = 16
    /// Names nothing.
    package static let zero = Identifier16(unchecked: Data(count: size))

    package let bytes: Data

    private init(unchecked bytes: Data) { self.bytes = bytes }

    /// - Parameter bytes: Nil is returned unless there are 16.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.size else { return nil }
        self.bytes = Data(bytes)
    }

    package static func random() -> Identifier16 { Identifier16(unchecked: Data([UInt8].random(count: size))) }

    /// The first 16 bytes of a digest.
    init(digest: some Sequence<UInt8>) { bytes = Data(digest.prefix(Self.size)) }

    package init(from reader: inout FrameReader) throws(FrameError) { bytes = Data(try reader.take(Self.size)) }

    /// Hexadecimal digits, as in a store.
    package var description: String { bytes.hexadecimal() }

    package static func < (one: Identifier16, other: Identifier16) -> Bool {
        one.bytes.lexicographicallyPrecedes(other.bytes)
    }
}
