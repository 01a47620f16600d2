import Bytes
import Foundation
import KeychainModel
import ProtectedFiles
import TestSupport
import Testing
import VaultInterface

@testable import PasswordFiles

/// A file under a password that is cheap to try.
struct PasswordFileUnderTest {
    static let cheap = PasswordCost.pbkdf2(iterations: 1)

    let folder: TemporaryFolder
    var path: String { folder.path(of: "file") }

    init() throws { folder = try TemporaryFolder() }

    init(_ data: Data, password: String = "right", cost: PasswordCost = Self.cheap) throws {
        try self.init()
        let writer = try SealedFileWriter(
            path, password: PasswordFileKeys(SecretBytes(password), cost: cost), durability: .process)
        try writer.write(data)
        try writer.finish(replacing: false)
    }

    func open(_ password: String = "right", _ mode: SealedFile.Mode = .reading) throws -> SealedFile {
        try SealedFile(path, mode, password: PasswordFileKeys(SecretBytes(password)))
    }

    func contents(_ password: String = "right") throws -> Data {
        let file = try open(password)
        return try file.read(Int(clamping: file.length), at: 0)
    }

    var bytes: Data {
        get throws { try Data(contentsOf: URL(filePath: path)) }
    }

    func put(_ bytes: Data) throws { try FolderContents.write(bytes, to: path) }
}

@Suite struct PasswordFileTests {
    @Test func comesBack() throws {
        var random = SeededGenerator()
        let data = random.bytes(200_000)
        let file = try PasswordFileUnderTest(data)
        #expect(try file.contents() == data)
        #expect(throws: SealedFileError.wrongPassword(path: file.path)) { try file.open("wrong") }
        #expect(try file.bytes.range(of: data.prefix(64)) == nil)
        // Anywhere in it, as in any protected file.
        try file.open("right", .writing).write(Data("new".utf8), at: 100_000)
        #expect(
            try file.open().read(5, at: 99_999) == data[99_999..<100_000] + Data("new".utf8) + data[100_003..<100_004])
        let header = try PasswordFileHeader(file.path)
        #expect(header.length == 200_000)
        #expect(try WrappedUnderPassword(header.wrapped, path: "").cost == PasswordFileUnderTest.cheap)
    }

    @Test func newFilesCostAsMuchAsAPasscode() throws {
        let file = try PasswordFileUnderTest()
        let keys = try PasswordFileKeys(SecretBytes("right")).measured()
        try SealedFileWriter(file.path, password: keys).finish(replacing: false)
        guard
            case .argon2id(let memoryKiB, let passes) = try WrappedUnderPassword(
                PasswordFileHeader(file.path).wrapped, path: ""
            ).cost
        else {
            Issue.record("another way")
            return
        }
        #expect(memoryKiB == 262_144 && passes >= 3)
        #expect(try file.contents().isEmpty)
        // The same password makes another key each time.
        let cheap = try (0..<2).map { _ in try PasswordFileUnderTest(Data()) }
        #expect(
            try PasswordFileHeader(cheap[0].path).wrapped.suffix(56)
                != PasswordFileHeader(cheap[1].path).wrapped.suffix(56))
        // An optimized program would remove the files before they are read.
        withExtendedLifetime(cheap) {}
    }

    /// A vault opens no file of a password, and the other way round.
    @Test func kindsStayApart() throws {
        let file = try PasswordFileUnderTest(Data("data".utf8))
        let keys = MemoryFileKeys()
        let refusal = SealedFileError.encryptedWithPassword(path: file.path)
        #expect(throws: refusal) { try SealedFile(file.path, .reading, keys: keys) }
        #expect(throws: refusal) { try SealedFileInfo(file.path) }
        #expect(throws: refusal) { try FileConversion(keys: keys).protect(file.path, .complete) }
        #expect(throws: refusal) { try FileConversion(keys: keys).unprotect(file.path) }
        #expect(throws: refusal) { try file.open("right", .writing).changeClass(to: .complete, keys: keys) }
        #expect(throws: refusal) { try file.open().fileClass }
        let own = file.folder.path(of: "own")
        _ = try SealedFile.create(own, .complete, keys: keys)
        let other = SealedFileError.notEncryptedWithPassword(path: own)
        #expect(throws: other) { try SealedFile(own, .reading, password: PasswordFileKeys(SecretBytes("right"))) }
        #expect(throws: other) { try PasswordFileHeader(own) }
        // A class byte that was changed leads nowhere either.
        var bytes = try Data(contentsOf: URL(filePath: own))
        bytes[10] = 5
        try file.put(bytes)
        #expect(throws: SealedFileError.self) { try file.open() }
    }

    @Test func emptyPasswords() {
        #expect(throws: SealedFileError.self) { try PasswordFileKeys(SecretBytes("")) }
    }

    /// Every byte that was changed, and every length that was cut, is noticed.
    @Test func changedHeaders() throws {
        let file = try PasswordFileUnderTest(Data("data".utf8))
        let original = try file.bytes
        // From byte 256 on, the header is ciphertext and padding of one seal.
        for place in 0..<4096 where place < 256 || place % TestScale.count(16, soak: 1) == 0 {
            var bytes = original
            // A low bit of the cost (bytes 28 to 43) makes it another cost, which takes its time.
            bytes[place] ^=
                (28..<44).contains(place) && !TestScale.isSoak ? 0x80 : 1 << UInt8(truncatingIfNeeded: place % 8)
            try file.put(bytes)
            #expect(throws: SealedFileError.self, "byte \(place)") { try file.contents() }
        }
        for count in stride(from: 0, to: original.count, by: 97) {
            try file.put(original.prefix(count))
            #expect(throws: SealedFileError.self, "\(count) bytes") { try file.contents() }
        }
    }

    /// What went wrong can be told where it can be told.
    @Test func reasons() throws {
        let file = try PasswordFileUnderTest(Data("data".utf8))
        let original = try file.bytes
        func error(_ place: Int, _ value: UInt8) throws -> SealedFileError? {
            var bytes = original
            bytes[place] = value
            try file.put(bytes)
            do {
                _ = try file.contents()
                return nil
            } catch {
                return error as? SealedFileError
            }
        }
        let wrong = SealedFileError.wrongPassword(path: file.path)
        let damage = SealedFileError.damaged(path: file.path, part: .header)
        for place in [12, 44, 59, 60, 99] { #expect(try error(place, original[place] ^ 1) == wrong, "byte \(place)") }
        for place in [100, 157, 170, 500] { #expect(try error(place, original[place] ^ 1) == damage, "byte \(place)") }
        let costs: [(Int, UInt8)] = [(32, 0x10), (35, 0)]
        for (place, value) in costs {
            guard case .tooCostly = try error(place, value) else {
                Issue.record("byte \(place)")
                continue
            }
        }
        for place in [30, 31] {
            guard case .unreadable = try error(place, 9) else {
                Issue.record("byte \(place)")
                continue
            }
        }
    }
}
