import Foundation
import KeychainModel
import TestSupport
import Testing

@testable import ProtectedFiles

/// Changed files: the change is noticed, or the data are what they were.
@Suite struct SoakMutationTests {
    /// What somebody who opens the file finds; nil if that is an error.
    private func outcome(_ file: FileUnderTest) throws -> Data? {
        do {
            return try file.contents()
        } catch is SealedFileError {
            return nil
        }
    }

    @Test func headerBits() throws {
        let data = Data(repeating: 3, count: 150_000)
        let file = try FileUnderTest(data)
        let original = try file.bytes
        for place in stride(from: 0, to: 4096, by: TestScale.count(5, soak: 1)) {
            for bit in TestScale.isSoak ? Array(0..<8) : [place % 8] {
                var bytes = original
                bytes[place] ^= 1 << UInt8(bit)
                try file.put(bytes)
                #expect(try outcome(file) == nil, "byte \(place)")
            }
        }
    }

    /// Flipped bits, bytes cut off, added, moved and overwritten, in a file with holes, with and without index blocks.
    @Test(arguments: [300_000, (8 << 20) + 200_000])
    func randomDamage(size: Int) throws {
        var random = SeededGenerator()
        let file = try FileUnderTest(random.bytes(size))
        try file.open(.writing).truncate(to: UInt64(size + 200_000))
        let data = try file.contents()
        let original = try file.bytes
        let rounds = TestScale.count(size < 1 << 20 ? 150 : 15, soak: size < 1 << 20 ? 95_000 : 5_000)
        var detected = 0
        for round in 0..<rounds {
            try file.put(random.int(below: 4) == 0 ? swapped(original, &random) : random.mutated(original))
            let found = try outcome(file)
            #expect(found == nil || found == data, "round \(round), seed \(random.seed)")
            if found == nil { detected += 1 }
        }
        // What is not noticed did not matter: bytes behind the end, and those of the hole. That is a fifth of the small
        // files and a twelfth of the large ones, so 10 of 15 large ones by chance is less than one in ten million.
        #expect(detected > rounds / 3)
        if TestScale.isSoak {
            print("damage to \(size) bytes: \(rounds) files, \(detected) refused, \(rounds - detected) as they were")
        }
    }

    /// Two parts of a file in each other's place, or one over another.
    private func swapped(_ original: Data, _ random: inout SeededGenerator) -> Data {
        var bytes = original
        let size = [28, 4096, 65_536][random.int(below: 3)]
        let (one, other) = (random.int(below: original.count - size), random.int(below: original.count - size))
        bytes.replaceSubrange(one..<(one + size), with: original[other..<(other + size)])
        if random.int(below: 2) == 0 {
            bytes.replaceSubrange(other..<(other + size), with: original[one..<(one + size)])
        }
        return bytes
    }

    private func place(_ chunk: UInt64) -> Range<Int> {
        let start = Int(FileLayout.offset(ofChunk: chunk))
        return start..<(start + 65_536)
    }

    /// Parts that were right once, or are right elsewhere.
    @Test func parts() throws {
        var random = SeededGenerator()
        let size = (8 << 20) + 5 * 65_536
        let file = try FileUnderTest(random.bytes(size))
        let old = try file.bytes
        let open = try file.open(.writing)
        for chunk in [2, 130] { try open.write(random.bytes(65_536), at: UInt64(chunk * 65_536)) }
        let new = try file.bytes
        let other = try FileUnderTest(try file.contents()).bytes
        func expectDamage(_ part: SealedFileError.Part, _ bytes: Data) throws {
            try file.put(bytes)
            #expect(throws: SealedFileError.damaged(path: file.path, part: part)) { try file.contents() }
            if part != .header { #expect(try file.open().verify().damage.first == part) }
        }
        let index = FileLayout.offset(of: IndexPosition(level: 1, number: 1))
        let indexPlace = Int(index)..<(Int(index) + 4096)
        for (source, name) in [(old, "older"), (other, "other")] {
            for chunk in [UInt64(2), 130] {
                var bytes = new
                bytes.replaceSubrange(place(chunk), with: source[place(chunk)])
                try expectDamage(.chunk(chunk), bytes)
            }
            var bytes = new
            bytes.replaceSubrange(indexPlace, with: source[indexPlace])
            try expectDamage(.index(level: 1, number: 1), bytes)
            #expect(bytes != new, "\(name)")
        }
        // The chunk together with its entry, of an older version of the file.
        var bytes = new
        bytes.replaceSubrange(place(2), with: old[place(2)])
        let entry = 480 + 2 * 28
        bytes.replaceSubrange(entry..<(entry + 28), with: old[entry..<(entry + 28)])
        try expectDamage(.header, bytes)
        bytes = new
        bytes.replaceSubrange(place(3), with: new[place(4)])
        bytes.replaceSubrange(place(4), with: new[place(3)])
        try expectDamage(.chunk(3), bytes)
        for cut in [1, 4096, 65_536, 9_000_000] {
            try file.put(new.dropLast(min(cut, new.count - 4096)))
            #expect(throws: SealedFileError.truncated(path: file.path)) { try file.contents() }
        }
        // What is added belongs to nothing.
        try file.put(new + other.suffix(70_000))
        #expect(try file.contents() == FileUnderTest.opened(new))
        #expect(try file.open().verify().strayBytes == 70_000)
    }

    /// Whatever the first block is, opening ends with the data or an error.
    @Test func fuzzProtectedFile() throws {
        let file = try FileUnderTest(Data(repeating: 9, count: 70_000))
        var samples = [try file.bytes.prefix(4096)]
        try file.open(.writing).changeClass(to: .none, keys: file.keys)
        samples.append(try file.bytes.prefix(4096))
        let rest = try file.bytes.dropFirst(4096)
        let originals = Set(samples)
        var run = FuzzRun("protected-file", samples: samples, plain: 500, soak: 20_000)
        let report = try run.run { input in
            let padded = input.count < 4096 ? input : input.prefix(4096) + rest
            try file.put(padded)
            guard let open = try? file.open() else { return false }
            let isOriginal = originals.contains(Data(padded.prefix(4096)))
            guard isOriginal else { throw FuzzFinding("a changed header verifies") }
            guard try open.read(100_000, at: 0) == Data(repeating: 9, count: 70_000) else {
                throw FuzzFinding("other data")
            }
            return true
        }
        #expect(report.accepted >= min(report.tried, samples.count))
    }
}

extension FileUnderTest {
    /// The data of a file with these bytes.
    static func opened(_ bytes: Data) throws -> Data {
        let file = try FileUnderTest()
        try file.put(bytes)
        return try file.contents()
    }
}
