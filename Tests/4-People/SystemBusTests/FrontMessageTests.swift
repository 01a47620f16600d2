import Bytes
import Foundation
import Frames
import SystemBus
import TestSupport
import Testing

/// What front processes and the process with the vault say to each other. A program may have taken a front over.
@Suite struct FrontMessageTests {
    private func frame(_ encode: (FrameBuffer) -> Void) -> FrameBuffer {
        let buffer = FrameBuffer()
        encode(buffer)
        let frame = FrameBuffer()
        frame.appendRaw(UnsafeRawBufferPointer(rebasing: buffer.bytes[4...]))
        return frame
    }

    /// A value, and its type in D-Bus's notation.
    private func value(_ generator: inout SeededGenerator, _ depth: Int = 0) -> (BusValue, String) {
        switch Int.random(in: 0..<(depth < 3 ? 11 : 8), using: &generator) {
        case 0: return (.byte(.random(in: .min ... .max, using: &generator)), "y")
        case 1: return (.boolean(.random(using: &generator)), "b")
        case 2: return (.integer(.random(in: .min ... .max, using: &generator)), "x")
        case 3: return (.unsigned(.random(in: .min ... .max, using: &generator)), "t")
        case 4: return (.double(.random(in: -1e300...1e300, using: &generator)), "d")
        case 5: return (.string(String(repeating: "ä", count: .random(in: 0..<40, using: &generator))), "s")
        case 6:
            let count = Int.random(in: 0..<40, using: &generator)
            return (.bytes(Data((0..<count).map { UInt8(truncatingIfNeeded: $0) })), "ay")
        case 7: return (.descriptor(.elsewhere), "h")
        case 8:
            let (element, type) = value(&generator, depth + 1)
            // An array of bytes is another value.
            guard type != "y" else { return (.array([]), "ax") }
            return (.array(Array(repeating: element, count: .random(in: 0..<5, using: &generator))), "a" + type)
        case 9:
            let (parts, types) = values(&generator, depth + 1)
            return (.structure(parts), "(" + types + ")")
        default: return (.variant(value(&generator, depth + 1).0), "v")
        }
    }

    private func values(_ generator: inout SeededGenerator, _ depth: Int = 0) -> ([BusValue], String) {
        let made = (0..<Int.random(in: 0..<4, using: &generator)).map { _ in value(&generator, depth) }
        return (made.map(\.0), made.map(\.1).joined())
    }

    private func call(_ generator: inout SeededGenerator) -> FrontCall {
        let (arguments, signature) = values(&generator)
        return FrontCall(
            number: .random(in: .min ... .max, using: &generator),
            request: BusRequest(path: "/a", interface: "b.c", member: "D", sender: ":1.7", signature: signature),
            arguments: Bool.random(using: &generator) ? arguments : nil,
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
                    && other.isOfGuardian == call.isOfGuardian && other.request.signature == call.request.signature)
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

    /// What answers a call relies on the types of its arguments.
    @Test func argumentsHaveTheTypesOfTheirSignature() throws {
        func isTaken(_ signature: String, _ arguments: [BusValue]) -> Bool {
            let request = BusRequest(path: "/a", interface: "b.c", member: "D", sender: "", signature: signature)
            let call = FrontReport.call(FrontCall(request: request, arguments: arguments))
            return (try? FrontReport(frame(call.encode))) != nil
        }
        let entry = BusValue.structure([.string("k"), .variant(.string("v"))])
        let secret = BusValue.structure([.string("/s"), .bytes(Data()), .bytes(Data([1])), .string("text/plain")])
        #expect(isTaken("", []))
        #expect(isTaken("a{sv}s", [.array([entry]), .string("")]))
        #expect(isTaken("a{sv}(oayays)b", [.array([]), secret, .boolean(true)]))
        #expect(isTaken("aoo", [.array([.string("/a"), .string("/b")]), .string("/c")]))
        #expect(isTaken("ssv", [.string(""), .string(""), .variant(.byte(1))]))
        #expect(isTaken("a(a{sv}ay)", [.array([.structure([.array([entry]), .bytes(Data())])])]))
        for (signature, arguments) in [
            ("a{sv}s", []), ("a{sv}s", [.array([entry])]), ("a{sv}s", [.array([entry]), .string(""), .string("")]),
            ("a{sv}s", [.array([.string("")]), .string("")]), ("a{sv}(oayays)b", [.array([]), entry, .boolean(true)]),
            ("aoo", []), ("aoo", [.bytes(Data()), .string("")]), ("ssv", [.string(""), .string(""), .byte(1)]),
            ("s", [.byte(1)]), ("ay", [.array([.byte(1)])]), ("(", [.structure([])]), ("a", [.array([])]),
            ("a{s", [.array([entry])]), ("x)", [.integer(1)]), ("", [.byte(1)]),
        ] as [(String, [BusValue])] {
            #expect(!isTaken(signature, arguments), "\(signature) \(arguments)")
        }
    }

    /// Any bytes are a report or an error.
    @Test func anyBytesAreReadOrRefused() {
        var generator = SeededGenerator(seed: 11)
        var (read, refused) = (0, 0)
        for _ in 0..<TestScale.count(20_000, soak: 1_000_000) {
            let whole = frame { FrontReport.call(call(&generator)).encode(to: $0) }
            var bytes = withExtendedLifetime(whole) { Array(whole.bytes) }
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
                    for text in ["/a", "b.c", "D", ":1.7", "v"] { buffer.append(text) }
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
