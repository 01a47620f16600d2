import Audit
import Bytes
import Crypto
import Foundation
import TestSupport

/// An attacker who has a vault's folder and the device secret, and therefore the audit key, but not the passcode. The
/// code was written from `Documentation/Specify/Formats/AuditLog.md`.
struct Forger {
    /// What is in a slot of version 3.
    struct Head: Decodable {
        var seq: UInt64
        var size: Int
        var link: String
        var key: String
        var anchor: String?
        var next: String?
    }

    /// With which keys a forged record is tagged.
    enum Tags: CaseIterable {
        /// With the audit key, as before the first anchor.
        case device
        /// With a chain that begins with a key of the forger's own.
        case own
        /// With a chain that begins with the present key, which is the only right one that the forger has.
        case present
        /// Not at all: the record keeps the tag that it had, or has a tag of another one.
        case kept
    }

    let folder: AuditFolder
    let log: String
    /// A key of an earlier time and the number of its record, with which ``Tags/own`` begins; nil for any key.
    var stolen: (number: UInt64, key: SymmetricKey)?
    private let key = SymmetricKey(data: Data(repeating: 1, count: 32))

    init(_ folder: AuditFolder, log: String = "audit-looks") {
        (self.folder, self.log) = (folder, log)
    }

    private func tag(_ message: Data, _ key: SymmetricKey) -> Data {
        Data(HMAC<SHA256>.authenticationCode(for: message, using: key))
    }

    private func next(after key: SymmetricKey) -> SymmetricKey { SymmetricKey(data: tag(Data("next".utf8), key)) }

    /// The lines of the log without their newlines.
    func lines() throws -> [Data] { try folder.contents("\(log).log").split(separator: 0x0A).map { Data($0) } }

    func head() throws -> Head { try JSONDecoder().decode(Head.self, from: folder.contents("\(log).head").prefix(512)) }

    private func headKey(_ anchor: Data) -> SymmetricKey {
        SymmetricKey(data: tag(Data("swift-keychain/v2/audit/head".utf8) + anchor, key))
    }

    /// The key of the next record, which is in the head.
    func presentKey() throws -> SymmetricKey? {
        let head = try head()
        guard let anchor = head.anchor.flatMap({ [UInt8](lowercaseHexadecimal: $0.utf8) }),
            let next = head.next.flatMap({ [UInt8](lowercaseHexadecimal: $0.utf8) })
        else { return nil }
        return try AES.KeyWrap.unwrap(next, using: headKey(Data(anchor)))
    }

    /// Writes a log of these records, which are lines with any link and tag, and a head that fits.
    ///
    /// - Parameters:
    ///   - start: The index of the first record that gets a new link and tag.
    ///   - numbered: Whether records from `start` on are numbered anew.
    ///   - headTags: Which key the head gets; for ``Tags/kept``, the one that it has.
    func write(
        _ lines: [Data], from start: Int, numbered: Bool, tags: Tags, headTags: Tags
    ) throws {
        let former = try head()
        let present = try presentKey() ?? SymmetricKey(size: .bits256)
        var chain = tags == .present ? present : SymmetricKey(size: .bits256)
        var link = Data(count: 32)
        var output = Data()
        var last: UInt64 = 0
        for (index, line) in lines.enumerated() {
            // `,"link":"` and 64 digits, `","tag":"` and 64 digits, `"}`
            let end = line.suffix(148)
            var record = Data(line.dropLast(148))
            guard index >= start else {
                link = Data([UInt8](lowercaseHexadecimal: end.dropFirst(9).prefix(64)) ?? [])
                output += line + [0x0A]
                last = Self.number(record)
                continue
            }
            if numbered {
                let rest = record.drop { $0 != 0x2C }
                record = Data(#"{"seq":\#(last + 1)"#.utf8) + rest
            }
            last = Self.number(record)
            if index == start, tags == .own, let stolen {
                chain = stolen.key
                for _ in stolen.number..<last { chain = next(after: chain) }
            }
            link = Data(SHA256.hash(data: link + record))
            let tagged: Data
            switch tags {
            case .device: tagged = tag(Data("record".utf8) + link, key)
            case .kept: tagged = Data([UInt8](lowercaseHexadecimal: end.dropFirst(82).prefix(64)) ?? [])
            case .own, .present:
                tagged = tag(Data("record".utf8) + link, chain)
                chain = next(after: chain)
            }
            output +=
                record + Data(#","link":"\#(link.hexadecimal())","tag":"\#(tagged.hexadecimal())"}"#.utf8) + [0x0A]
        }
        try folder.replace("\(log).log", with: output)
        let key =
            switch headTags {
            case .kept, .device: present
            case .own: SymmetricKey(size: .bits256)
            case .present: chain
            }
        try writeHead(
            last, output.count, link, former, headTags == .device ? nil : key)
    }

    /// Writes both slots of version 3, with the present anchor's identifier; without a key, as before the first anchor.
    private func writeHead(_ sequence: UInt64, _ size: Int, _ link: Data, _ former: Head, _ next: SymmetricKey?) throws
    {
        var contents = Data()
        for slot in 0..<2 {
            var message = Data("head3".utf8) + [UInt8(truncatingIfNeeded: slot)]
            for number in [sequence, UInt64(clamping: size)] {
                withUnsafeBytes(of: number.bigEndian) { message += Data($0) }
            }
            message += link
            var text =
                #"{"v":3,"slot":\#(slot),"seq":\#(sequence),"size":\#(size),"link":"\#(link.hexadecimal())","#
                + #""key":"\#(former.key)""#
            if let next, let name = former.anchor, let anchor = [UInt8](lowercaseHexadecimal: name.utf8) {
                let wrapped = try AES.KeyWrap.wrap(next, using: headKey(Data(anchor)))
                message += Data(anchor) + wrapped
                text += #","anchor":"\#(name)","next":"\#(wrapped.hexadecimal())""#
            }
            text += #","tag":"\#(tag(message, key).hexadecimal())"}"#
            contents += Data(text.utf8) + Data(repeating: 0x20, count: 511 - text.utf8.count) + [0x0A]
        }
        try folder.replace("\(log).head", with: contents)
    }

    static func number(_ record: Data) -> UInt64 {
        UInt64(String(decoding: record.dropFirst(7).prefix { (0x30...0x39).contains($0) }, as: UTF8.self)) ?? 0
    }
}
