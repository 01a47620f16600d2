import Access
import Crypto
import Foundation

/// The running value of the chain: SHA-256 over the value before and the record.
struct AuditLink: Equatable, Sendable {
    let bytes: Data

    /// What the first record of all continues.
    static let origin = AuditLink(bytes: Data(count: 32))

    func next(_ record: Data) -> AuditLink {
        var hash = SHA256()
        hash.update(data: bytes)
        hash.update(data: record)
        return AuditLink(bytes: Data(hash.finalize()))
    }

    /// What vouches for this record and all before it.
    func tag(under seal: any AuditSeal) -> Data {
        seal.tag(of: Data("record".utf8) + bytes)
    }
}

/// A record as it stands in the file: JSON that ends in the link and its tag.
struct AuditLine {
    /// The line up to its link.
    let record: Data
    let link: AuditLink
    let tag: Data

    /// How long a line can be at most; longer ones are none.
    static let longest = 4_096

    private static let linkName = Data(#","link":""#.utf8)
    private static let tagName = Data(#"","tag":""#.utf8)
    private static let end = Data(#""}"#.utf8)
    private static let suffix = linkName.count + 64 + tagName.count + 64 + end.count

    init(_ record: Data, after previous: AuditLink, under seal: any AuditSeal) {
        self.record = record
        link = previous.next(record)
        tag = link.tag(under: seal)
    }

    /// - Parameter line: Without its newline; nil comes of whatever was not written by ``encoded``.
    init?(_ line: Data) {
        guard line.count > Self.suffix, line.count <= Self.longest else { return nil }
        var rest = line.suffix(Self.suffix)
        func take(_ count: Int) -> Data {
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }
        guard take(Self.linkName.count) == Self.linkName, let link = Data(hexadecimal: take(64)),
            take(Self.tagName.count) == Self.tagName, let tag = Data(hexadecimal: take(64)), rest == Self.end
        else { return nil }
        record = line.dropLast(Self.suffix)
        self.link = AuditLink(bytes: link)
        self.tag = tag
    }

    /// The line with its newline.
    var encoded: Data {
        record + Self.linkName + link.bytes.hexadecimal + Self.tagName + tag.hexadecimal + Self.end + [0x0A]
    }

    /// What the record says; nil if it is not JSON of the expected form.
    var contents: AuditRecord? {
        try? JSONDecoder().decode(AuditRecord.self, from: record + [0x7D])
    }
}

extension Data {
    /// Lower-case digits.
    var hexadecimal: Data {
        func digit(_ half: UInt8) -> UInt8 { half < 10 ? 0x30 + half : 0x57 + half }
        var digits: [UInt8] = []
        digits.reserveCapacity(2 * count)
        for byte in self {
            digits.append(digit(byte >> 4))
            digits.append(digit(byte & 15))
        }
        return Data(digits)
    }

    /// Of lower-case digits only: there is one way to write a value.
    init?(hexadecimal digits: Data) {
        guard digits.count % 2 == 0 else { return nil }
        self.init(capacity: digits.count / 2)
        var high: UInt8?
        for digit in digits {
            let value: UInt8
            switch digit {
            case 0x30...0x39: value = digit - 0x30
            case 0x61...0x66: value = digit - 0x57
            default: return nil
            }
            if let first = high {
                append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
    }
}
