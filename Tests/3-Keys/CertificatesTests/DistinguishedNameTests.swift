import Foundation
import SwiftASN1
import Testing

@testable import Certificates

@Suite("Names")
struct DistinguishedNameTests {
    /// `SEQUENCE { SET { SEQUENCE { commonName, value } } }`
    private func name(_ tag: UInt8, _ value: [UInt8]) -> Data {
        let oid: [UInt8] = [0x06, 0x03, 0x55, 0x04, 0x03]
        let pair = oid + [tag, UInt8(value.count)] + value
        let set = [0x30, UInt8(pair.count)] + pair
        let sequence = [0x31, UInt8(set.count)] + set
        return Data([0x30, UInt8(sequence.count)] + sequence)
    }

    @Test(arguments: [
        ("  two   Blanks \t tab ", "TWO BLANKS TAB"), ("", ""), ("   ", ""), ("already", "ALREADY"),
        ("a{z`", "A{Z`"),
    ])
    func printableStringsAreNormalised(text: String, normal: String) throws {
        let parsed = try DistinguishedName(der: name(0x13, Array(text.utf8)))
        #expect(parsed.normalizedSequence == name(0x13, Array(normal.utf8)))
        #expect(try DistinguishedName(der: parsed.normalizedSequence).normalizedContent == parsed.normalizedContent)
    }

    @Test(arguments: [0x0c, 0x16, 0x14, 0x1a] as [UInt8])
    func otherStringsAreLeftAlone(tag: UInt8) throws {
        let der = name(tag, Array("  two   Blanks ".utf8))
        #expect(try DistinguishedName(der: der).normalizedSequence == der)
    }

    @Test(
        arguments: [
            (0x0c, [0xc3, 0xa4], "ä"), (0x14, [0xe4], "ä"), (0x1e, [0x00, 0xe4, 0xd8, 0x3d, 0xde, 0x00], "ä😀"),
            (0x1c, [0x00, 0x01, 0xf6, 0x00], "😀"), (0x13, [0x61], "a"), (0x16, [0x40], "@"), (0x12, [0x37], "7"),
        ] as [(UInt8, [UInt8], String)])
    func textOfEveryStringType(tag: UInt8, bytes: [UInt8], text: String) throws {
        #expect(try DistinguishedName(der: name(tag, bytes)).texts(of: .NameAttributes.commonName) == [text])
    }

    @Test(
        arguments: [
            (0x0c, [0xff]), (0x13, [0xe4]), (0x1e, [0x00]), (0x1e, [0xd8, 0x3d]), (0x1c, [0x00, 0x11, 0x00, 0x00]),
            (0x04, [0x61]),
        ] as [(UInt8, [UInt8])])
    func undecodableTextIsLeftOut(tag: UInt8, bytes: [UInt8]) throws {
        let parsed = try DistinguishedName(der: name(tag, bytes))
        #expect(parsed.texts(of: .NameAttributes.commonName).isEmpty)
        #expect(parsed.summary == nil)
    }

    @Test func theEmptyNameIsAName() throws {
        let empty = try DistinguishedName(der: Data([0x30, 0x00]))
        #expect(empty.normalizedContent.isEmpty)
        #expect(empty.summary == nil)
    }

    @Test(
        arguments: [
            [0x30, 0x02, 0x31, 0x00], [0x31, 0x00], [0x30, 0x04, 0x31, 0x02, 0x30, 0x00], [0x30, 0x00, 0x00], [],
        ] as [[UInt8]])
    func malformedNamesAreRefused(bytes: [UInt8]) {
        #expect(throws: CertificateError(malformed: "name")) { try DistinguishedName(der: Data(bytes)) }
    }
}
