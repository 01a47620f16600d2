import Foundation
import Glibc
import TestSupport

/// Random operations on one file and on a model of it in memory, which have to agree all the time.
final class FileExercise {
    private static let limit = 3 << 20

    private let path: String
    private var random: SeededGenerator
    private var model: [UInt8] = []
    private var descriptor: Int32 = -1
    private(set) var counts: [String: Int] = [:]
    private var history: [String] = []
    private var deck: [Int] = []

    init(_ path: String, seed: UInt64) throws {
        self.path = path
        random = SeededGenerator(seed: seed)
        descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("open") }
    }

    deinit { close(descriptor) }

    private func failure(_ what: String) -> MountTestError {
        let reason = String(cString: strerror(errno))
        return MountTestError(
            "\(what) of \(path), seed \(random.seed) (\(reason)), after:\n" + history.suffix(20).joined(separator: "\n")
        )
    }

    private func note(_ operation: String, _ details: String) {
        counts[operation, default: 0] += 1
        history.append("\(operation) \(details) of \(model.count)")
        if history.count > 100 { history.removeFirst(50) }
    }

    /// A number below a hundred; each comes once in a hundred times.
    private func deal() -> Int {
        if deck.isEmpty { deck = (0..<100).shuffled(using: &random) }
        return deck.removeLast()
    }

    /// One operation.
    func step() throws {
        switch deal() {
        case 0..<25: try writeSomewhere()
        case 25..<45: try readSomewhere()
        case 45..<55: try appendSomething()
        case 55..<65: try changeLength()
        case 65..<75: try readMapping()
        case 75..<85: try writeMapping()
        case 85..<90: try reopen()
        case 90..<94: try synchronize()
        case 94..<97: try forgetCache()
        default: try compareAll()
        }
        try checkLength()
    }

    /// A place and a length, often near the edges of chunks and pages.
    private func range(within end: Int) -> (start: Int, count: Int) {
        let edges = [1, 4096, 65_536, 1 << 20]
        let edge = edges[random.int(below: edges.count)]
        var start = random.int(below: max(1, end))
        if random.int(below: 2) == 0 { start = max(0, start / edge * edge + random.int(below: 5) - 2) }
        let sizes = [10, 4096, 70_000, 700_000]
        let count = 1 + random.int(below: sizes[random.int(below: sizes.count)])
        return (start, count)
    }

    private func writeSomewhere() throws {
        var (start, count) = range(within: min(Self.limit, model.count + 100_000))
        (start, count) = (min(start, Self.limit - 1), min(count, Self.limit - start))
        let bytes = [UInt8](random.bytes(count))
        note("write", "\(count) at \(start)")
        try writeAll(bytes) { pwrite(descriptor, $0, $1, start + $2) }
        put(bytes, at: start)
    }

    private func writeAll(_ bytes: [UInt8], _ body: (UnsafeRawPointer, Int, Int) -> Int) throws {
        var done = 0
        while done < bytes.count {
            let written = bytes.withUnsafeBytes { buffer in
                buffer.baseAddress.map { body($0 + done, bytes.count - done, done) } ?? 0
            }
            guard written > 0 else { throw failure("write") }
            done += written
        }
    }

    private func put(_ bytes: [UInt8], at start: Int) {
        if model.count < start + bytes.count {
            model += [UInt8](repeating: 0, count: start + bytes.count - model.count)
        }
        model.replaceSubrange(start..<(start + bytes.count), with: bytes)
    }

    private func readSomewhere() throws {
        let (start, count) = range(within: model.count + 1000)
        note("read", "\(count) at \(start)")
        try compare(descriptor, start, count)
    }

    private func compare(_ descriptor: Int32, _ start: Int, _ count: Int) throws {
        var bytes = [UInt8](repeating: 0xAA, count: count)
        var done = 0
        while done < count {
            let got = bytes.withUnsafeMutableBytes { buffer in
                buffer.baseAddress.map { pread(descriptor, $0 + done, count - done, start + done) } ?? -1
            }
            guard got >= 0 else { throw failure("read") }
            if got == 0 { break }
            done += got
        }
        let expected = start < model.count ? Array(model[start..<min(model.count, start + count)]) : []
        guard done == expected.count else { throw failure("length \(done) instead of \(expected.count)") }
        try same(Array(bytes[..<done]), expected, start)
    }

    private func same(_ found: [UInt8], _ expected: [UInt8], _ start: Int) throws {
        guard found != expected else { return }
        let place = zip(found, expected).enumerated().first { $0.element.0 != $0.element.1 }?.offset ?? 0
        throw failure("difference at byte \(start + place): \(found[place]) instead of \(expected[place])")
    }

    private func appendSomething() throws {
        let count = min(1 + random.int(below: random.int(below: 4) == 0 ? 200_000 : 3000), Self.limit - model.count)
        guard count > 0 else { return }
        let bytes = [UInt8](random.bytes(count))
        note("append", "\(count)")
        let other = open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
        guard other >= 0 else { throw failure("open for appending") }
        defer { close(other) }
        try writeAll(bytes) { pointer, count, _ in write(other, pointer, count) }
        model += bytes
    }

    private func changeLength() throws {
        let (start, _) = range(within: min(Self.limit, model.count + 200_000))
        let length = random.int(below: 8) == 0 ? 0 : min(start, Self.limit)
        note("truncate", "to \(length)")
        let result = random.int(below: 2) == 0 ? ftruncate(descriptor, length) : truncate(path, length)
        guard result == 0 else { throw failure("truncate") }
        if length < model.count {
            model.removeSubrange(length...)
        } else {
            model += [UInt8](repeating: 0, count: length - model.count)
        }
    }

    /// Some whole pages of the file.
    private func pages() -> (start: Int, count: Int)? {
        guard !model.isEmpty else { return nil }
        let (place, count) = range(within: model.count)
        let start = min(place, model.count - 1) / 4096 * 4096
        return (start, min(count, model.count - start))
    }

    private func mapped(
        _ start: Int, _ count: Int, _ protection: Int32, _ flags: Int32,
        _ body: (UnsafeMutableRawBufferPointer) throws -> Void
    ) throws {
        guard let base = mmap(nil, count, protection, flags, descriptor, start), base != MAP_FAILED else {
            throw failure("mmap")
        }
        defer { munmap(base, count) }
        try body(UnsafeMutableRawBufferPointer(start: base, count: count))
    }

    private func readMapping() throws {
        guard let (start, count) = pages() else { return }
        note("read mapping", "\(count) at \(start)")
        let flags = random.int(below: 2) == 0 ? MAP_SHARED : MAP_PRIVATE
        try mapped(start, count, PROT_READ, flags) { bytes in
            try same(Array(bytes), Array(model[start..<(start + count)]), start)
        }
    }

    private func writeMapping() throws {
        guard let (start, count) = pages() else { return }
        let bytes = [UInt8](random.bytes(count))
        note("write mapping", "\(count) at \(start)")
        let isFlushed = random.int(below: 2) == 0
        try mapped(start, count, PROT_READ | PROT_WRITE, MAP_SHARED) { mapping in
            mapping.copyBytes(from: bytes)
            guard !isFlushed || msync(mapping.baseAddress, count, Int32(MS_SYNC)) == 0 else { throw failure("msync") }
        }
        put(bytes, at: start)
    }

    private func reopen() throws {
        note("reopen", "")
        guard close(descriptor) == 0 else { throw failure("close") }
        descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open again") }
    }

    private func synchronize() throws {
        note("fsync", "")
        guard fsync(descriptor) == 0 else { throw failure("fsync") }
    }

    private func forgetCache() throws {
        note("forget", "")
        // What the kernel has is dropped, so that the next read comes from the file below.
        guard posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED) == 0 else { throw failure("fadvise") }
    }

    private func compareAll() throws {
        note("compare", "")
        let other = open(path, O_RDONLY | O_CLOEXEC)
        guard other >= 0 else { throw failure("open for reading") }
        defer { close(other) }
        try compare(other, 0, model.count + 1)
    }

    private func checkLength() throws {
        var information = stat()
        guard stat(path, &information) == 0 else { throw failure("stat") }
        guard information.st_size == model.count else {
            throw failure("size \(information.st_size) instead of \(model.count)")
        }
    }

    /// Compares what the file has after everything was closed, also after it was mounted anew.
    func finish() throws -> [UInt8] {
        try compareAll()
        return model
    }
}
