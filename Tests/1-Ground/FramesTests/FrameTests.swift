import Bytes
import Frames
import Testing

/// The fields of frames.
@Suite struct FrameTests {
    @Test func everyFieldComesBack() throws {
        let buffer = FrameBuffer()
        buffer.append(0x0102_0304 as UInt32)
        buffer.append(true)
        buffer.append("text")
        buffer.append(try SecretBytes("secret"))
        buffer.append(optional: nil as String?) { buffer.append($0) }
        buffer.append(list: [1, 2] as [Int16]) { buffer.append($0) }
        #expect(Array(buffer.bytes.prefix(5)) == [1, 2, 3, 4, 1])
        var reader = FrameReader(buffer)
        #expect(try reader.integer() == 0x0102_0304 as UInt32)
        #expect(try reader.bool())
        #expect(try reader.string(limit: 4) == "text")
        #expect(try reader.secret(limit: 6) == SecretBytes("secret"))
        let none = try reader.optional { reader throws(FrameError) in try reader.string(limit: 1) }
        #expect(none == nil)
        let list = try reader.list(limit: 2) { reader throws(FrameError) in try reader.integer(Int16.self) }
        #expect(list == [1, 2])
        try reader.finish()
    }

    @Test func whatIsNoMessageIsRefused() {
        let buffer = FrameBuffer([0, 0, 0, 5, 1, 2])
        var reader = FrameReader(buffer)
        #expect(throws: FrameError("too many elements")) { try reader.counted(limit: 4) }
        reader = FrameReader(buffer)
        #expect(throws: FrameError("the message ends early")) { try reader.counted() }
        reader = FrameReader(buffer, from: 5)
        #expect(throws: FrameError("neither yes nor no")) { try reader.bool() }
        reader = FrameReader(buffer, from: 4, to: 5)
        #expect(throws: FrameError("the message ends early")) { try reader.integer(UInt16.self) }
        #expect(throws: FrameError("bytes after the message")) { try reader.finish() }
    }

    @Test func bytesAreTakenAwayFromBothEnds() {
        let buffer = FrameBuffer([1, 2, 3, 4, 5, 6, 7])
        buffer.removeFirst(2)
        buffer.removeLast(1)
        #expect(Array(buffer.bytes) == [3, 4, 5, 6])
        buffer.overwrite(0x0102_0304, at: 0)
        buffer.overwrite(0, at: 1)
        #expect(Array(buffer.bytes) == [1, 2, 3, 4])
        buffer.removeFirst(4)
        #expect(buffer.count == 0)
    }
}
