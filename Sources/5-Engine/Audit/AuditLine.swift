import Access
import Bytes
import Crypto
import FoundationEssentials

/// The running value of the chain: SHA-256 over the previous value and the record.
struct AuditLink: Equatable, Sendable {
    let bytes: Data

    /// The value before the first record.
    static let origin = AuditLink(bytes: Data(count: 32))

    func next(_ record: Data) -> AuditLink {
        var hash = SHA256()
        hash.update(data: bytes)
        hash.update(data: record)
        return AuditLink(bytes: Data(hash.finalize()))
    }

    /// Returns the tag that authenticates this record and all before it.
    func tag(under seal: any AuditSeal) -> Data { seal.tag(of: Data("record".utf8) + bytes) }
}

/// A record in the file: JSON that ends with the link and its tag.
struct AuditLine {
    /// The line up to its link.
    let record: Data
    let link: AuditLink
    let tag: Data

    /// The longest line in bytes. A longer one is invalid.
    static let longest = 4_096

    private static let linkName = Data(#","link":""#.utf8)
    private static let tagName = Data(#"","tag":""#.utf8)
    private static let end = Data(#""}"#.utf8)
    private static let suffix = linkName.count + 64 + tagName.count + 64 + end.count

    init(_ record: Data, after previous: AuditLink, taggedBy tagging: inout AuditTagging) {
        self.record = record
        link = previous.next(record)
        tag = tagging.tagNext(link)
    }

    /// - Parameter line: Without its newline. The result is nil if ``encoded`` did not produce it.
    init?(_ line: Data) {
        guard line.count > Self.suffix, line.count <= Self.longest else { return nil }
        var rest = line.suffix(Self.suffix)
        func take(_ count: Int) -> Data {
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }
        guard take(Self.linkName.count) == Self.linkName, let link = [UInt8](lowercaseHexadecimal: take(64)),
            take(Self.tagName.count) == Self.tagName, let tag = [UInt8](lowercaseHexadecimal: take(64)),
            rest == Self.end
        else { return nil }
        record = line.dropLast(Self.suffix)
        self.link = AuditLink(bytes: Data(link))
        self.tag = Data(tag)
    }

    /// The line with its newline.
    var encoded: Data {
        var line = record
        line.append(Self.linkName)
        line.append(Data(link.bytes.hexadecimalDigits()))
        line.append(Self.tagName)
        line.append(Data(tag.hexadecimalDigits()))
        line.append(Self.end)
        line.append(0x0A)
        return line
    }

    /// The number of the record, which is its first member; nil if the record does not begin with one. Decoding all of
    /// it takes longer than checking its tag.
    var sequence: UInt64? {
        guard record.starts(with: Self.beginning) else { return nil }
        let digits = record.dropFirst(Self.beginning.count).prefix { (0x30...0x39).contains($0) }
        return UInt64(String(decoding: digits, as: UTF8.self))
    }

    private static let beginning = Data(#"{"seq":"#.utf8)

    /// The decoded record; nil if it is not JSON of the expected form.
    var contents: AuditRecord? {
        try? JSONDecoder().decode(AuditRecord.self, from: record + [0x7D])
    }
}
