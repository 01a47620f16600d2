import Bytes
import Foundation
import Frames
import SystemBus
import TestSupport
import Testing

/// What front processes and the process with the vault say to each other. A front may be in the hand of a program.
@Suite struct FrontMessageTests {
    private func frame(_ encode: (FrameBuffer) -> Void) -> FrameBuffer {
        let buffer = FrameBuffer()
        encode(buffer)
        let frame = FrameBuffer()
        frame.appendRaw(UnsafeRawBufferPointer(rebasing: buffer.bytes[4...]))
        return frame
    }

    private func value(_ generator: inout SeededGenerator, _ depth: Int = 0) -> BusValue {
        switch Int.random(in: 0..<(depth < 4 ? 11 : 8), using: &generator) {
        case 0: .byte(.random(in: .min ... .max, using: &generator))
        case 1: .boolean(.random(using: &generator))
        case 2: .integer(.random(in: .min ... .max, using: &generator))
        case 3: .unsigned(.random(in: .min ... .max, using: &generator))
        case 4: .double(.random(in: -1e300...1e300, using: &generator))
        case 5: .string(String(repeating: "ä", count: .random(in: 0..<40, using: &generator)))
        case 6: .bytes(Data((0..<Int.random(in: 0..<40, using: &generator)).map { UInt8(truncatingIfNeeded: $0) }))
        case 7: .descriptor(.elsewhere)
        case 8: .array(values(&generator, depth + 1))
        case 9: .structure(values(&generator, depth + 1))
        default: .variant(value(&generator, depth + 1))
        }
    }

    private func values(_ generator: inout SeededGenerator, _ depth: Int = 0) -> [BusValue] {
        (0..<Int.random(in: 0..<5, using: &generator)).map { _ in value(&generator, depth) }
    }

    private func call(_ generator: inout SeededGenerator) -> FrontCall {
        FrontCall(
            number: .random(in: .min ... .max, using: &generator),
            request: BusRequest(path: "/a", interface: "b.c", member: "D", sender: ":1.7", signature: "a{sv}"),
            arguments: Bool.random(using: &generator) ? values(&generator) : nil,
            process: Bool.random(using: &generator) ? 77 : nil, isOfGuardian: .random(using: &generator))
    }

    @Test func whatIsWrittenIsRead() throws {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<TestScale.count(500, soak: 100_000) {
            let call = call(&generator)
            let read = try FrontReport(frame { FrontReport.call(call).encode(to: $0) })
            guard case .call(let other) = read else {
                Issue.record("\(read)")
                return
            }
            #expect(
                other.number == call.number && other.arguments == call.arguments && other.process == call.process
                    && other.isOfGuardian == call.isOfGuardian && other.request.signature == "a{sv}")
        }
        let argument = BusArgument.array(
            of: "{sv}",
            [
                .entry(.string("k"), .variant(.structure([.path("/p"), .bytes(Data([1, 2])), .unsigned32(3)]))),
                .entry(.string("l"), .variant(.array(of: "t", [.unsigned64(4)]))),
                .entry(.string("m"), .variant(.boolean(true))),
            ])
        let order = FrontOrder.answer(5, [argument], isSecret: true, written: Data([9]))
        guard case .answer(5, let values, isSecret: true, written: Data([9])?) = try FrontOrder(frame(order.encode))
        else {
            Issue.record("another order")
            return
        }
        #expect(values == [argument])
    }

    /// Any bytes are a report or an error.
    @Test func anyBytesAreReadOrRefused() {
        var generator = SeededGenerator(seed: 11)
        var (read, refused) = (0, 0)
        for _ in 0..<TestScale.count(20_000, soak: 1_000_000) {
            var bytes = Array(frame { FrontReport.call(call(&generator)).encode(to: $0) }.bytes)
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                bytes[place] = .random(in: .min ... .max, using: &generator)
            }
            if Bool.random(using: &generator) { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &generator)) }
            do {
                _ = try FrontReport(FrameBuffer(bytes))
                read += 1
            } catch {
                refused += 1
            }
        }
        #expect(read > 0 && refused > 0)
    }

    /// A small report cannot ask for much memory.
    @Test func countsAndDepthsAreBounded() {
        func report(_ body: (FrameBuffer) -> Void) -> FrameBuffer {
            frame { buffer in
                buffer.appendFrame(1) {
                    buffer.append(UInt32(1))
                    for text in ["/a", "b.c", "D", ":1.7", "ai"] { buffer.append(text) }
                    buffer.append(true)
                    body(buffer)
                }
            }
        }
        // Four billion values, of which none is there.
        #expect(throws: FrameError.self) { try FrontReport(report { $0.append(UInt32.max) }) }
        // Variants in variants.
        #expect(throws: FrameError.self) {
            try FrontReport(
                report { buffer in
                    buffer.append(UInt32(1))
                    for _ in 0..<100_000 { buffer.append(UInt8(ascii: "v")) }
                })
        }
        // Arrays in arrays.
        #expect(throws: FrameError.self) {
            try FrontReport(
                report { buffer in
                    for _ in 0..<100_000 {
                        buffer.append(UInt32(1))
                        buffer.append(UInt8(ascii: "a"))
                    }
                })
        }
    }
}
