import Bytes
import Testing

/// Bytes as text, and as integers.
@Suite struct BytesTests {
    /// RFC 4648, section 10, without padding.
    @Test(arguments: [
        ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
        ("foobar", "Zm9vYmFy"),
    ])
    func base64(bytes: String, text: String) {
        #expect(UnpaddedBase64.standard.string(bytes.utf8) == text)
        #expect(UnpaddedBase64.standard.decode(text.utf8) == Array(bytes.utf8))
        #expect(UnpaddedBase64.url.decode(UnpaddedBase64.url.encode(bytes.utf8)) == Array(bytes.utf8))
    }

    @Test func base64HasTwoAlphabets() {
        #expect(UnpaddedBase64.standard.string([0xFB, 0xFF, 0xBF]) == "+/+/")
        #expect(UnpaddedBase64.url.string([0xFB, 0xFF, 0xBF]) == "-_-_")
        #expect(UnpaddedBase64.url.decode("+/+/".utf8) == nil)
        #expect(UnpaddedBase64.standard.decode("-_-_".utf8) == nil)
    }

    /// A length that no bytes have, padding, another character, and bits behind the end.
    @Test(arguments: ["Z", "Zg==", "Zg=", "Zm9v Zg", "Zh", "Zm9"])
    func base64ThatNoEncoderWrites(text: String) {
        #expect(UnpaddedBase64.standard.decode(text.utf8) == nil)
    }

    @Test func hexadecimal() {
        let bytes: [UInt8] = [0x00, 0x09, 0xA0, 0xFF]
        #expect(bytes.hexadecimal() == "0009a0ff" && bytes.hexadecimal(uppercase: true) == "0009A0FF")
        #expect([UInt8](hexadecimal: "0009a0FF".utf8) == bytes)
        #expect([UInt8](lowercaseHexadecimal: "0009a0ff".utf8) == bytes)
        #expect([UInt8](lowercaseHexadecimal: "0009a0FF".utf8) == nil)
        for text in ["0", "0g", "+1", "0x", " 1"] { #expect([UInt8](hexadecimal: text.utf8) == nil) }
    }

    @Test func bigEndian() {
        var bytes: [UInt8] = [7]
        bytes.append(bigEndian: 0x0102_0304 as UInt32)
        bytes.append(bigEndian: -2 as Int16)
        #expect(bytes == [7, 1, 2, 3, 4, 0xFF, 0xFE])
        #expect((0x0102 as UInt16).bigEndianBytes == [1, 2])
        #expect(UInt32(bigEndianBytes: bytes[1..<5]) == 0x0102_0304)
        #expect(Int16(bigEndianBytes: bytes.suffix(2)) == -2)
        bytes.withUnsafeMutableBytes { room in
            room.baseAddress?.store(bigEndian: 0x0A0B_0C0D as UInt32, at: 3)
            #expect(UnsafeRawBufferPointer(room).bigEndian(at: 1) == 0x0102_0A0B as UInt32)
            #expect(UnsafeRawBufferPointer(room).bigEndian(at: 3, as: UInt32.self) == 0x0A0B_0C0D)
        }
    }

    @Test func trimming() {
        #expect(" \u{2003}a b\r\n\t".trimmed == "a b")
        #expect(" \ta b \n".trimmedInLine == "a b \n")
        #expect("--a-".trimmed { $0 == "-" } == "a" && "".trimmed.isEmpty && " ".trimmed.isEmpty)
    }
}
