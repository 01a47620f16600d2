import Foundation
import Glibc
import KeychainModel
import ProtectedFiles
import TestSupport
import Testing

@testable import MountedFolder

/// Writes that are collected, over a file that a mount would have below.
@Suite struct GatheredTests {
    private static let chunk = ChangedChunks.chunkSize
    private let folder: TemporaryFolder
    private let keys = MemoryFileKeys()
    private let file: SealedFile

    init() throws {
        folder = try TemporaryFolder()
        file = try SealedFile.create(folder.path(of: "file"), .complete, keys: keys)
    }

    /// Collects a write, and first writes what is collected when there is no room, as a mount does.
    private func add(_ bytes: [UInt8], at place: Int, to gathered: inout Gathered) throws {
        try bytes.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let next = UInt64(place + done)
                if !gathered.hasRoom(at: next) { try gathered.write(to: file) }
                done += try gathered.add(UnsafeRawBufferPointer(rebasing: bytes[done...]), at: next, over: file)
            }
        }
    }

    private func read(_ count: Int, at place: Int, _ gathered: Gathered) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0xEE, count: count)
        let done = try bytes.withUnsafeMutableBytes { try gathered.read(into: $0, at: UInt64(place), over: file) }
        return Array(bytes[..<done])
    }

    /// The data with and without the collected writes are those of an array to which the same was done.
    @Test func theDataAreThoseOfAnArray() throws {
        var generator = SeededGenerator()
        var (gathered, model) = (Gathered(), [UInt8]())
        var written = 0
        for _ in 0..<TestScale.count(300, soak: 20_000) {
            let place = Int.random(in: 0...(20 * Self.chunk), using: &generator)
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<6:
                // Some begin or end where a chunk does.
                let start = Bool.random(using: &generator) ? place : place / Self.chunk * Self.chunk
                let count = [1, 100, Self.chunk, Self.chunk + 1, 3 * Self.chunk].randomElement(using: &generator) ?? 0
                let bytes = [UInt8](repeating: .random(in: 1 ... .max, using: &generator), count: count)
                try add(bytes, at: start, to: &gathered)
                if model.count < start + count { model += Array(repeating: 0, count: start + count - model.count) }
                model.replaceSubrange(start..<(start + count), with: bytes)
                #expect(!gathered.isEmpty && gathered.length == UInt64(model.count))
            case 6..<9:
                let count = Int.random(in: 0...(2 * Self.chunk), using: &generator)
                let expected = Array(model.dropFirst(place).prefix(count))
                #expect(try read(count, at: place, gathered) == expected, "seed \(generator.seed)")
            default:
                try gathered.write(to: file)
                written += 1
                #expect(gathered.isEmpty)
                #expect(try file.read(model.count + 1, at: 0) == Data(model), "seed \(generator.seed)")
            }
        }
        try gathered.write(to: file)
        #expect(try file.read(model.count + 1, at: 0) == Data(model), "seed \(generator.seed)")
        #expect(written > 5)
    }

    /// There is room for so many chunks, and for more bytes in a chunk that is there.
    @Test func thereIsRoomForSoManyChunks() throws {
        var gathered = Gathered()
        for number in 0..<ChangedChunks.limit {
            #expect(gathered.hasRoom(at: UInt64(number * Self.chunk)))
            try add([1], at: number * Self.chunk, to: &gathered)
        }
        #expect(!gathered.hasRoom(at: UInt64(ChangedChunks.limit * Self.chunk)))
        #expect(gathered.hasRoom(at: UInt64(ChangedChunks.limit * Self.chunk - 1)))
        #expect(try file.length == 0)
        gathered.clear()
        #expect(gathered.isEmpty && gathered.hasRoom(at: 0) && gathered.loss == nil)
    }

    /// A chunk whose other bytes cannot be read is not collected, and what was collected before is.
    @Test func damagedChunksAreNotCollected() throws {
        var gathered = Gathered()
        try add(Array(repeating: 7, count: 2 * Self.chunk), at: 0, to: &gathered)
        try gathered.write(to: file)
        let below = try FileHandle(forUpdating: URL(filePath: folder.path(of: "file")))
        try below.seek(toOffset: below.seekToEnd() - 64)
        try below.write(contentsOf: Data(count: 64))
        #expect(throws: Errno(EIO)) { try add([1], at: Self.chunk, to: &gathered) }
        #expect(gathered.isEmpty)
        try add([1], at: 0, to: &gathered)
        #expect(throws: Errno(EIO)) { try add([2], at: Self.chunk, to: &gathered) }
        #expect(gathered.length == UInt64(2 * Self.chunk))
        try gathered.write(to: file)
        #expect(try file.read(Self.chunk, at: 0) == Data([1] + Array(repeating: 7, count: Self.chunk - 1)))
        // A write of the whole chunk needs no other bytes.
        try add(Array(repeating: 8, count: Self.chunk), at: Self.chunk, to: &gathered)
        try gathered.write(to: file)
        #expect(try file.read(Self.chunk + 1, at: UInt64(Self.chunk)) == Data(repeating: 8, count: Self.chunk))
    }

    /// What cannot be written stays collected.
    @Test func writesWithoutAKeyStay() throws {
        var gathered = Gathered()
        keys.close(.complete)
        try add([1], at: 0, to: &gathered)
        file.discardKey()
        #expect(throws: Errno(EACCES)) { try gathered.write(to: file) }
        #expect(gathered.length == 1)
        var empty = Gathered()
        #expect(throws: Errno(EACCES)) { try add([1], at: 0, to: &empty) }
        #expect(empty.isEmpty)
        keys.open(.complete)
        try file.renewKey(keys)
        try gathered.write(to: file)
        #expect(try file.read(2, at: 0) == Data([1]) && gathered.isEmpty)
    }

    /// The reason of a loss is given until it is taken, also with later writes.
    @Test func aLossIsTakenOnce() throws {
        var gathered = Gathered()
        try add([1, 2, 3], at: 0, to: &gathered)
        gathered.lose(Errno(EBUSY))
        #expect(gathered.isEmpty && gathered.loss == Errno(EBUSY))
        try add([4], at: 0, to: &gathered)
        try gathered.write(to: file)
        gathered.clear()
        #expect(gathered.loss == Errno(EBUSY))
        #expect(gathered.takeLoss() == Errno(EBUSY))
        #expect(gathered.takeLoss() == nil && gathered.loss == nil)
        #expect(try file.read(10, at: 0) == Data([4]))
    }
}
