import Foundation
import Glibc
import KeychainModel
import TestSupport
import Testing

@testable import ProtectedFiles

/// Files that are protected and made plain again in their places.
@Suite struct FileConversionTests {
    private let folder: TemporaryFolder
    private let keys = MemoryFileKeys()
    private let conversion: FileConversion
    private var path: String { folder.path(of: "file") }

    init() throws {
        folder = try TemporaryFolder()
        conversion = FileConversion(keys: keys)
    }

    private func put(_ data: Data) throws { try data.write(to: URL(filePath: path)) }

    private func contents() throws -> Data {
        let file = try SealedFile(path, .reading, keys: keys)
        return try file.read(Int(file.length), at: 0)
    }

    private func names() throws -> [String] { try FolderState(folder.path).names }

    @Test(arguments: [0, 1, 4_096, 65_536, 1 << 20, 3_000_001])
    func comesBack(size: Int) throws {
        var random = SeededGenerator()
        let data = random.bytes(size)
        try put(data)
        var done: UInt64 = 0
        try conversion.protect(path, .complete) { done += $0 }
        #expect(done == UInt64(size))
        #expect(try SealedFileInfo(path).fileClass == .complete)
        #expect(try contents() == data)
        #expect(try FileTraits(path).size == Int(FileLayout.size(UInt64(size))))
        #expect(throws: SealedFileError.alreadyProtected(path: path)) { try conversion.protect(path, .none) }
        done = 0
        try conversion.unprotect(path) { done += $0 }
        #expect(done == UInt64(size))
        #expect(try Data(contentsOf: URL(filePath: path)) == data)
        #expect(throws: SealedFileError.notProtected(path: path)) { try conversion.unprotect(path) }
        #expect(try names() == ["file"])
    }

    /// Under a new key the data are the same, and nothing of the former file opens the new one.
    @Test(arguments: [0, 1, 65_536, 3_000_001])
    func aNewKey(size: Int) throws {
        var random = SeededGenerator()
        let data = random.bytes(size)
        try put(data)
        try conversion.protect(path, .none)
        let former = try Data(contentsOf: URL(filePath: path))
        let identifier = try SealedFile(path, .reading, keys: keys).identifier
        let reader = try SealedFile(path, .reading, keys: keys)
        defer { reader.close() }

        // A change of class alone wraps the key anew: the former header opens the data.
        let open = try SealedFile(path, .writing, keys: keys)
        try open.changeClass(to: .complete, keys: keys)
        open.close()
        let rewrapped = try Data(contentsOf: URL(filePath: path))
        #expect(rewrapped != former && rewrapped.dropFirst(4_096) == former.dropFirst(4_096))

        var done: UInt64 = 0
        try conversion.renewKey(path, movingTo: .completeUnlessOpen) { done += $0 }
        #expect(done == UInt64(size))
        #expect(try SealedFileInfo(path).fileClass == .completeUnlessOpen)
        #expect(try contents() == data)
        #expect(try SealedFile(path, .reading, keys: keys).identifier != identifier)
        #expect(try names() == ["file"])
        let renewed = try Data(contentsOf: URL(filePath: path))
        for header in [former, rewrapped] {
            try put(header.prefix(4_096) + renewed.dropFirst(4_096))
            let file = try SealedFile(path, .reading, keys: keys)
            for offset in stride(from: 0, to: UInt64(size), by: 65_536) {
                #expect(throws: SealedFileError.self) { try file.read(65_536, at: offset) }
            }
        }
        // Who had the former file open still has it.
        #expect(try reader.read(size + 1, at: 0) == data)

        try put(renewed)
        try conversion.renewKey(path)
        #expect(try SealedFileInfo(path).fileClass == .completeUnlessOpen)
        #expect(try contents() == data)
        try put(data)
        #expect(throws: SealedFileError.notProtected(path: path)) { try conversion.renewKey(path) }
    }

    @Test func whoWritesKeepsAFileFromGettingANewKey() throws {
        try put(Data("x".utf8))
        try conversion.protect(path, .complete)
        let writer = try SealedFile(path, .writing, keys: keys)
        #expect(throws: SealedFileError.openForWriting(path: path)) { try conversion.renewKey(path) }
        writer.close()
        try conversion.renewKey(path)
    }

    /// Protects, seals under a new key and makes plain again, and looks at what the file has in between and in the end.
    private func keepsTraits() throws {
        let before = try FileTraits(path)
        try conversion.protect(path, .completeUnlessOpen)
        #expect(try FileTraits(path).besidesContents == before.besidesContents)
        try conversion.renewKey(path, movingTo: .complete)
        #expect(try FileTraits(path).besidesContents == before.besidesContents)
        try conversion.unprotect(path)
        #expect(try FileTraits(path) == before)
    }

    private func set(_ attributes: [(name: String, value: [UInt8])]) throws {
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        defer { close(descriptor) }
        try FileMetadata.write(attributes, descriptor, path: path)
    }

    @Test func keepsOwnerPermissionsAndTimes() throws {
        try put(Data(repeating: 7, count: 100_000))
        if geteuid() == 0 { #expect(chown(path, 1234, 4321) == 0) }
        #expect(chmod(path, 0o6751) == 0)
        let times = [timespec(tv_sec: 1_000_000_000, tv_nsec: 123_456_789), timespec(tv_sec: 900_000_000, tv_nsec: 1)]
        #expect(utimensat(AT_FDCWD, path, times, 0) == 0)
        let before = try FileTraits(path)
        #expect(before.mode & 0o7777 == 0o6751)
        #expect(before.changed == [900_000_000, 1])
        try keepsTraits()
    }

    /// Whether the file system of temporary files takes such an attribute.
    private static func takes(_ name: String, _ value: [UInt8]) -> Bool {
        guard let suite = try? FileConversionTests(), (try? suite.put(Data())) != nil else { return false }
        return (try? suite.set([(name, value)])) != nil
    }

    @Test(.enabled(if: takes("user.note", [1]), "this file system has no extended attributes"))
    func keepsExtendedAttributes() throws {
        try put(Data("x".utf8))
        let attributes: [String: [UInt8]] = [
            "user.note": [0, 1, 2, 0, 255], "user.empty": [], "user.long": [UInt8](repeating: 9, count: 2_000),
        ]
        try set(attributes.map { ($0.key, $0.value) })
        #expect(try FileTraits(path).attributes.filter { $0.key.hasPrefix("user.") } == attributes)
        try keepsTraits()
    }

    /// Owner rw, user 1234 r, group r, mask r, others nothing (linux/posix_acl_xattr.h).
    private static let accessList: [UInt8] =
        [2, 0, 0, 0] + [1, 0, 6, 0, 255, 255, 255, 255] + [2, 0, 4, 0, 0xD2, 4, 0, 0]
        + [4, 0, 4, 0, 255, 255, 255, 255] + [16, 0, 4, 0, 255, 255, 255, 255] + [32, 0, 0, 0, 255, 255, 255, 255]

    @Test(
        .enabled(if: takes("system.posix_acl_access", accessList), "this file system has no access-control lists"))
    func keepsAccessControlLists() throws {
        try put(Data("x".utf8))
        try set([("system.posix_acl_access", Self.accessList)])
        #expect(try FileTraits(path).attributes["system.posix_acl_access"] == Self.accessList)
        try keepsTraits()
    }

    @Test func holesStayHoles() throws {
        let size = 1 << 30
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        #expect(ftruncate(descriptor, size) == 0)
        let data = [UInt8](repeating: 0x5A, count: 70_000)
        let places = [65_536 * 3 - 5, 300_000_000, 700 << 20, size - 200_000]
        for place in places { #expect(pwrite(descriptor, data, data.count, place) == data.count) }
        #expect(fsync(descriptor) == 0)
        close(descriptor)
        let written = places.map { $0..<($0 + data.count) }
        #expect(try stretches() == written)
        let before = try FileTraits(path)
        // Elsewhere there are no holes to keep.
        #expect(before.allocated < 1 << 20)

        try conversion.protect(path, .complete)
        let sealed = try FileTraits(path)
        #expect(sealed.size > size)
        #expect(sealed.allocated < 2 << 20)
        let file = try SealedFile(path, .reading, keys: keys)
        #expect(try file.length == UInt64(size))
        for place in places {
            let found = try file.read(data.count + 20, at: UInt64(place - 10))
            #expect(found == Data(count: 10) + data + Data(count: 10))
        }
        file.close()
        try conversion.unprotect(path)
        let after = try FileTraits(path)
        #expect(after.size == size)
        #expect(after.allocated < 1 << 20)
        #expect(try stretches() == written)
    }

    /// Where something other than zeros is.
    private func stretches() throws -> [Range<Int>] {
        let buffer = try AlignedBuffer(count: 1 << 20)
        var (found, offset): ([Range<Int>], Int) = ([], 0)
        try PlainFile(path).readPieces(into: buffer.bytes) { bytes in
            for byte in bytes {
                if byte == 0x5A {
                    let start = found.last?.upperBound == offset ? found.removeLast().lowerBound : offset
                    found.append(start..<(offset + 1))
                } else if byte != 0 {
                    Issue.record("a byte that nobody wrote at \(offset)")
                }
                offset += 1
            }
        } hole: { count in
            offset += Int(count)
        }
        return found
    }
}
