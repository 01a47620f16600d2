import Foundation
import Glibc
import KeychainModel
import TestSupport
import Testing
import VaultInterface

@testable import ProtectedFiles

/// Changes in place, compared with the same changes to plain data.
@Suite struct ChangeTests {
    @Test func randomChanges() throws {
        var random = SeededGenerator()
        for limit in [200_000, 3 << 20, 20 << 20] {
            let file = try FileUnderTest(Data())
            var script = FileScript(seed: random.next(), limit: limit)
            var open = try file.open(.writing)
            let reader = try file.open()
            for step in 0..<TestScale.count(120, soak: 3_000) {
                try open.perform(script.next(), keys: file.keys)
                let place = random.int(below: script.data.count + 1)
                let count = random.int(below: 150_000)
                let expected = Data(script.data.dropFirst(place).prefix(count))
                try #require(try open.read(count, at: UInt64(place)) == expected, "seed \(random.seed), step \(step)")
                try #require(try reader.read(count, at: UInt64(place)) == expected, "seed \(random.seed), step \(step)")
                guard step % 30 == 29 else { continue }
                open = try file.open(.writing)
                try #require(try file.contents() == script.data, "seed \(random.seed), step \(step)")
                let size = try file.bytes.count
                try #require(UInt64(size) == FileLayout.size(UInt64(script.data.count)))
            }
            #expect(try open.verify().isSound)
        }
    }

    /// Two that write in turn see each other's changes.
    @Test func twoWriters() throws {
        let file = try FileUnderTest(Data(repeating: 1, count: 100_000))
        let (one, other) = (try file.open(.writing), try file.open(.writing))
        for turn in 0..<20 {
            try (turn % 2 == 0 ? one : other).append(Data(repeating: UInt8(turn), count: 30_000))
        }
        let contents = try file.contents()
        #expect(contents.count == 700_000)
        for turn in 0..<20 { #expect(contents[100_000 + turn * 30_000] == UInt8(turn)) }
    }

    /// Zeros that were never written take no room, however many; the index grows by levels and shrinks again.
    @Test func hugeAndSparse() throws {
        let file = try FileUnderTest(Data("start".utf8))
        let open = try file.open(.writing)
        let far = UInt64(1) << 41
        try open.write(Data("far".utf8), at: far)
        #expect(try open.length == far + 3)
        #expect(try open.read(10, at: 0) == Data("start".utf8) + Data(count: 5))
        #expect(try open.read(10, at: far - 4) == Data(count: 4) + Data("far".utf8))
        try open.write(Data("middle".utf8), at: far / 2 + 65_533)
        #expect(try file.open().read(10, at: far / 2 + 65_531) == Data(count: 2) + Data("middle".utf8) + Data(count: 2))
        for length in [far / 2 + 70_000, UInt64(3) << 30, 9 << 20, 8 << 20, 65_536, 3] {
            try open.truncate(to: length)
            #expect(try open.length == length)
            #expect(try file.open().read(3, at: 0) == Data("sta".utf8))
            #expect(try file.open().read(10, at: length - 3).count == 3)
        }
        #expect(try file.contents() == Data("sta".utf8))
        #expect(throws: SealedFileError.tooLarge(path: file.path, limit: 1 << 44)) {
            try open.write(Data([1]), at: 1 << 44)
        }
        // Less than ext4's limit for the file as a whole.
        try open.truncate(to: 1 << 43)
        #expect(try open.read(5, at: (1 << 43) - 5) == Data(count: 5))
    }

    @Test func classChange() throws {
        let data = Data(repeating: 7, count: 200_000)
        let file = try FileUnderTest(data)
        let before = try file.bytes
        let open = try file.open(.writing)
        try open.changeClass(to: .none, keys: file.keys)
        file.keys.close(.complete)
        #expect(try file.open().fileClass == .none)
        #expect(try file.contents() == data)
        #expect(try SealedFileInfo(file.path).fileClass == .none)
        // No data were touched.
        #expect(try file.bytes.dropFirst(4096) == before.dropFirst(4096))
        #expect(throws: SealedFileError.refused(.interactionNotAllowed(reason: "the class is closed"))) {
            try open.changeClass(to: .complete, keys: file.keys)
        }
        #expect(try file.contents() == data)
    }

    /// After the class keys were renewed: another wrapped key in the header, and nothing else.
    @Test(arguments: FileProtectionClass.allCases) func rewrappedKey(_ fileClass: FileProtectionClass) throws {
        let data = Data(repeating: 7, count: 200_000)
        let file = try FileUnderTest(data, fileClass)
        let times = [timespec(tv_sec: 1_000_000_000, tv_nsec: 5), timespec(tv_sec: 1_577_934_245, tv_nsec: 6)]
        #expect(utimensat(AT_FDCWD, file.path, times, 0) == 0)
        let before = try file.bytes
        let reader = try file.open()
        let keys = MemoryFileKeys(generation: 1)
        let open = try SealedFile(file.path, .writing, keys: keys)
        keys.close(fileClass)
        // Locked: of the class that takes no key to wrap under, the present wrapping cannot be opened.
        #expect(throws: SealedFileError.refused(.interactionNotAllowed(reason: "the class is closed"))) {
            try open.rewrapKey(keys: keys)
        }
        #expect(try file.bytes == before)
        keys.open(fileClass)
        #expect(try open.rewrapKey(keys: keys))
        let after = try file.bytes
        #expect(after.prefix(4096) != before.prefix(4096) && after.dropFirst(4096) == before.dropFirst(4096))
        #expect(try !open.rewrapKey(keys: keys))
        #expect(try file.bytes == after)
        var information = stat()
        #expect(stat(file.path, &information) == 0)
        #expect(information.st_mtim.tv_sec == times[1].tv_sec && information.st_mtim.tv_nsec == times[1].tv_nsec)
        // Only the present keys open it. Who had it open goes on.
        #expect(throws: SealedFileError.self) { try file.open() }
        let again = try SealedFile(file.path, .reading, keys: keys)
        #expect(try again.fileClass == fileClass && again.length == 200_000)
        for file in [again, reader] { #expect(try file.read(200_000, at: 0) == data) }
        try open.append(Data("more".utf8))
        for file in [again, reader] { #expect(try file.read(10, at: 200_000) == Data("more".utf8)) }
        #expect(throws: SealedFileError.openedForReading(path: file.path)) { try again.rewrapKey(keys: keys) }
    }

    @Test func closedClass() throws {
        let file = try FileUnderTest(Data("secret".utf8))
        let open = try file.open(.writing)
        file.keys.close(.complete)
        #expect(throws: SealedFileError.refused(.interactionNotAllowed(reason: "the class is closed"))) {
            try file.open()
        }
        // What was open stays so until its owner gives the key up.
        #expect(try open.read(6, at: 0) == Data("secret".utf8))
        open.discardKey()
        #expect(throws: SealedFileError.keyDiscarded(path: file.path)) { try open.read(6, at: 0) }
        #expect(throws: SealedFileError.keyDiscarded(path: file.path)) { try open.append(Data([1])) }
        open.close()
        #expect(throws: SealedFileError.closed(path: file.path)) { try open.length }
        #expect(try SealedFileInfo(file.path).length == 6)
    }

    /// A locked machine makes and appends to a file that only an unlocked one opens again.
    @Test func completeUnlessOpen() throws {
        let file = try FileUnderTest()
        file.keys.close(.completeUnlessOpen)
        let open = try SealedFile.create(file.path, .completeUnlessOpen, keys: file.keys)
        try open.append(Data("while locked".utf8))
        #expect(throws: SealedFileError.self) { try file.open() }
        file.keys.open(.completeUnlessOpen)
        #expect(try file.contents() == Data("while locked".utf8))
    }

    @Test func refusals() throws {
        let file = try FileUnderTest(Data("x".utf8))
        #expect(throws: SealedFileError.openedForReading(path: file.path)) { try file.open().append(Data([1])) }
        #expect(throws: SealedFileError.alreadyExists(path: file.path)) {
            try SealedFile.create(file.path, .none, keys: file.keys)
        }
        #expect(throws: SealedFileError.notRegular(path: file.folder.path)) {
            try SealedFile(file.folder.path, .reading, keys: file.keys)
        }
        #expect(throws: SealedFileError.notFound(path: file.path + "x")) {
            try SealedFile(file.path + "x", .reading, keys: file.keys)
        }
        #expect(throws: SealedFileError.notFound(path: file.folder.path(of: "missing/"))) {
            try SealedFile.create(file.folder.path(of: "missing/new"), .none, keys: file.keys)
        }
        for plain in [Data(), Data("plain text".utf8), Data(count: 5_000)] {
            try file.put(plain)
            #expect(throws: SealedFileError.notProtected(path: file.path)) { try file.open() }
        }
        // No attempt left anything behind.
        #expect(try FileManager.default.contentsOfDirectory(atPath: file.folder.path) == ["file"])
    }
}
