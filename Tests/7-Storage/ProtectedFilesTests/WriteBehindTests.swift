import Bytes
import Foundation
import Glibc
import KeychainModel
import TestSupport
import Testing

@testable import ProtectedFiles

/// A thread that writes for another one.
@Suite struct WriteBehindTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path(of: "file") }

    init() throws { folder = try TemporaryFolder() }

    private func begin(_ flags: Int32 = O_RDWR | O_CREAT) throws -> OpenFile {
        let file = try OpenFile(path, flags: flags)
        try file.beginWritingBehind(limit: .max)
        #expect(file.behind != nil)
        return file
    }

    @Test("leaves what was written last, wherever it is and however long")
    func order() throws {
        var random = SeededGenerator()
        let file = try begin()
        var expected = Data(count: 6 << 20)
        for _ in 0..<400 {
            let count = Int.random(in: 1...200_000, using: &random)
            let place = Int.random(in: 0...(expected.count - count), using: &random)
            let bytes = random.bytes(count)
            expected.replaceSubrange(place..<(place + count), with: bytes)
            try file.write([UInt8](bytes), at: UInt64(clamping: place))
        }
        try file.write([0], at: UInt64(clamping: expected.count - 1))
        expected[expected.count - 1] = 0
        try #expect(Data(file.read(expected.count, at: 0)) == expected)
        try file.write([1], at: 0)
        expected[0] = 1
        try file.endWritingBehind()
        #expect(file.behind == nil)
        #expect(try Data(contentsOf: URL(filePath: path)) == expected)
    }

    @Test("reports the first write that failed, and writes nothing after it")
    func failure() throws {
        try FolderContents.write(Data("before".utf8), to: path)
        let file = try begin(O_RDONLY)
        let failure = SealedFileError.system(operation: "write", path: path, errno: EBADF)
        try file.write([1], at: 0)
        #expect(throws: failure) { try file.endWritingBehind() }
        #expect(throws: failure) { try file.synchronizeWhole() }
        #expect(throws: failure) {
            for _ in 0..<10 { try file.write([UInt8](repeating: 1, count: 1 << 20), at: 0) }
        }
        #expect(try Data(contentsOf: URL(filePath: path)) == Data("before".utf8))
    }

    @Test("closes the file only after its last write")
    func closing() throws {
        for _ in 0..<20 {
            var file = try begin()
            try file.write([UInt8](repeating: 7, count: 3 << 20), at: 0)
            file = try OpenFile(path, flags: O_RDONLY)
            #expect(try file.size == 3 << 20)
            try FileManager.default.removeItem(atPath: path)
        }
    }

    @Test("a new file with a part that could not be written is never complete")
    func failedPart() throws {
        let test = try FileUnderTest()
        try FolderContents.write(Data(), to: path)
        let file = try OpenFile(path, flags: O_RDONLY)
        let core = try FileCore(
            creating: file, kind: .vault(.complete), waitingForDisk: false, keys: .vault(test.keys))
        let piece = [UInt8](repeating: 1, count: FileLayout.chunkSize)
        let failure = SealedFileError.system(operation: "write", path: path, errno: EBADF)
        #expect(throws: failure) { try piece.withUnsafeBytes { try core.appendUnshared($0) } }
        // From here on, every write would succeed.
        let writable = open(path, O_RDWR | O_CLOEXEC)
        #expect(dup2(writable, file.descriptor) == file.descriptor)
        close(writable)
        #expect(throws: failure) { try piece.withUnsafeBytes { try core.appendUnshared($0) } }
        #expect(throws: failure) { try core.extendUnshared(by: 1) }
        #expect(throws: failure) { try core.finishUnshared() }
    }

    @Test("does so for a limited number of files")
    func limit() throws {
        let file = try OpenFile(path, flags: O_RDWR | O_CREAT)
        try file.beginWritingBehind(limit: 0)
        #expect(file.behind == nil)
        let other = try begin()
        try file.beginWritingBehind(limit: 1)
        #expect(file.behind == nil)
        try other.endWritingBehind()
    }

    @Test("a new file may be written in any pieces, with zeros between them")
    func pieces() throws {
        var random = SeededGenerator()
        let test = try FileUnderTest()
        for _ in 0..<6 {
            let writer = try SealedFileWriter(test.path, .complete, keys: test.keys, durability: .process)
            var expected = Data()
            while expected.count < 20 << 20 {
                if Int.random(in: 0..<4, using: &random) == 0 {
                    let count = Int.random(in: 1...3_000_000, using: &random)
                    try writer.skip(UInt64(clamping: count))
                    expected.append(Data(count: count))
                } else {
                    let sizes = [65_536, 131_072, 1 << 20, 5 << 20, Int.random(in: 1...200_000, using: &random)]
                    let bytes = random.bytes(sizes.randomElement(using: &random) ?? 1)
                    try writer.write(bytes)
                    expected.append(bytes)
                }
                #expect(writer.length == UInt64(clamping: expected.count))
            }
            try writer.finish(replacing: true)
            #expect(try test.contents() == expected)
            #expect(try test.open().verify().isSound)
        }
    }
}
