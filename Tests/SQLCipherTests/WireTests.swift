import Bytes
import Foundation
import Frames
import KeychainModel
import SQLCipherWire
import TestSupport
import Testing

/// What the helper and its client say to each other.
@Suite struct WireTests {
    private static func frames() throws -> [(HelperFrameKind, Data)] {
        let raw = CipherKey(.raw, try SecretBytes(count: 32) { $0.copyBytes(from: 0..<32) })
        let open = OpenRequest(
            path: "/tmp/db", mode: .creating, key: raw, compatibility: .four, pageSizes: [4096, 1024],
            cacheSize: 65_536,
            busyTimeout: 10_000)
        var rows = RowBatch(columns: 2)
        rows.append([.null, .integer(-1)])
        rows.append([.real(.pi), .string("text")])
        rows.append([.blob([0, 255]), .text([])])
        func body(_ write: (FrameBuffer) -> Void) -> Data {
            let buffer = FrameBuffer()
            write(buffer)
            return Data(buffer.bytes)
        }
        return [
            (.hello, body { HelperHello().encode(to: $0) }),
            (.open, body { open.encode(to: $0) }),
            (.query, body { QueryRequest(sql: "SELECT ?", bindings: [.integer(1)]).encode(to: $0) }),
            (.batch, body { BatchRequest(sql: "INSERT", rows: rows).encode(to: $0) }),
            (.rekey, body { CipherKey(.passphrase, raw.bytes).encode(to: $0) }),
            (
                .welcome,
                body {
                    HelperWelcome(version: 1, cipherVersion: "3.4.1", sqliteVersion: "3.15.2", library: "l").encode(
                        to: $0)
                }
            ),
            (.opened, body { Opened(compatibility: .three, pageSize: 4096).encode(to: $0) }),
            (.rows, body { rows.encode(to: $0) }),
            (.done, body { RequestResult(changes: 1, lastInsertedRowid: -1, isInTransaction: true).encode(to: $0) }),
            (.failure, body { RequestFailure(.busy, "reason", resultCode: 5).encode(to: $0) }),
        ]
    }

    /// Reads a body and writes it again.
    private static func again(_ kind: HelperFrameKind, _ reader: inout FrameReader, _ buffer: FrameBuffer)
        throws(FrameError)
    {
        switch kind {
        case .hello: try HelperHello(from: &reader).encode(to: buffer)
        case .open: try OpenRequest(from: &reader).encode(to: buffer)
        case .query: try QueryRequest(from: &reader).encode(to: buffer)
        case .batch: try BatchRequest(from: &reader).encode(to: buffer)
        case .rekey: try CipherKey(from: &reader).encode(to: buffer)
        case .welcome: try HelperWelcome(from: &reader).encode(to: buffer)
        case .opened: try Opened(from: &reader).encode(to: buffer)
        case .rows: try RowBatch(from: &reader).encode(to: buffer)
        case .done: try RequestResult(from: &reader).encode(to: buffer)
        case .failure: try RequestFailure(from: &reader).encode(to: buffer)
        default: throw FrameError("not tried")
        }
    }

    @Test func everyFrameComesBack() throws {
        for (kind, body) in try Self.frames() {
            let buffer = FrameBuffer()
            var reader = FrameReader(FrameBuffer(body))
            try Self.again(kind, &reader, buffer)
            #expect(Data(buffer.bytes) == body, "\(kind)")
        }
    }

    /// Whatever comes is read or refused, and what is read is what would be written.
    @Test func fuzzSQLCipherFrames() throws {
        let samples = try Self.frames().map { Data([$0.0.rawValue]) + $0.1 }
        var run = FuzzRun("sqlcipher-frames", samples: samples, plain: 5_000, soak: 200_000)
        try run.run { input in
            guard let first = input.first, let kind = HelperFrameKind(rawValue: first) else { return false }
            let body = Data(input.dropFirst())
            let buffer = FrameBuffer()
            do {
                var reader = FrameReader(FrameBuffer(body))
                try Self.again(kind, &reader, buffer)
            } catch is FrameError {
                return false
            }
            // A reason may have been cut, and a greeting may say more.
            if ![.failure, .hello, .welcome, .rows, .rekey].contains(kind), Data(buffer.bytes) != body {
                throw FuzzFinding("\(kind) is written otherwise than it was read")
            }
            return true
        }
    }

    /// What a helper is told that is no request ends it with a word, and never otherwise.
    @Test func helperRefusesWhatIsNoProtocol() throws {
        var random = SeededGenerator()
        let hello = FrameBuffer()
        hello.appendFrame(.hello) { HelperHello().encode(to: hello) }
        let frames = try Self.frames().filter { $0.0.rawValue < 0x80 && $0.0 != .hello && $0.0 != .open }
        for round in 0..<TestScale.count(20, soak: 1000) {
            let frame = frames[random.int(below: frames.count)]
            var bytes = Data(hello.bytes)
            if random.int(below: 4) == 0 { bytes = Data() }
            let body = random.mutated(frame.1)
            withUnsafeBytes(of: UInt32(body.count + 1).bigEndian) { bytes.append(contentsOf: $0) }
            bytes.append(frame.0.rawValue)
            bytes.append(body)
            let worker = try Worker([], command: CipherFile.program)
            worker.send([UInt8](bytes))
            worker.finishInput()
            _ = worker.readToEnd()
            let status = worker.wait()
            #expect(status == 0 || status == 65, "round \(round), seed \(random.seed)")
        }
    }
}
