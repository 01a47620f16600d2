import Foundation

/// A picture that stands for a person.
public struct Avatar: Sendable, Hashable {
    /// What kind of picture it is.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case png = "image/png"
        case jpeg = "image/jpeg"
        case gif = "image/gif"
        case webp = "image/webp"
        case svg = "image/svg+xml"

        /// The kind of a picture that came from elsewhere, by its first bytes, whatever the sender calls it; nil for
        /// what is none of those that can have no script in it.
        init?(of bytes: Data) {
            let kinds: [(Kind, [UInt8], Int)] = [
                (.png, [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], 0), (.jpeg, [0xFF, 0xD8, 0xFF], 0),
                (.gif, Array("GIF8".utf8), 0), (.webp, Array("WEBP".utf8), 8),
            ]
            let found = kinds.first { _, mark, offset in bytes.dropFirst(offset).starts(with: mark) }
            guard let found else { return nil }
            self = found.0
        }
    }

    /// What kind of picture it is.
    public let kind: Kind
    /// The picture's file.
    public let bytes: Data

    /// The largest that is taken from elsewhere, in bytes.
    static let maximalSize = 512 << 10

    /// One that came from elsewhere; nil for what is no picture, or too large.
    init?(fetched bytes: Data) {
        guard bytes.count <= Self.maximalSize, let kind = Kind(of: bytes) else { return nil }
        (self.kind, self.bytes) = (kind, bytes)
    }

    /// The generated one of an address.
    public init(generatedFor email: EmailAddress) {
        (kind, bytes) = (.svg, Data(GeneratedPattern(of: email).svg.utf8))
    }
}
