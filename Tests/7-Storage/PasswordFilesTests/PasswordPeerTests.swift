import Bytes
import Foundation
import ProtectedFiles
import TestSupport
import Testing

@testable import PasswordFiles

/// Files go back and forth between this package and the implementation in Python, which was written from the
/// description of the format.
@Suite struct PasswordPeerTests {
    static let costs: [PasswordCost] = [
        .argon2id(memoryKiB: 8192, passes: 2), .scrypt(logN: 12, blockSize: 8, parallelism: 2),
        .pbkdf2(iterations: 5_000),
    ]

    private static let peer = Result {
        try PythonPeer(
            URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .appendingPathComponent("ProtectedFilesTests/Peer/protected_file.py").path)
    }

    private func peer(_ arguments: [String]) throws { _ = try Self.peer.get().ask(arguments) }

    private static let password = "a path, ein Paßwort"

    @Test(arguments: costs)
    func read(_ cost: PasswordCost) throws {
        var random = SeededGenerator()
        let data = random.bytes(150_000)
        let file = try PasswordFileUnderTest(data, password: Self.password, cost: cost)
        let out = file.folder.path(of: "data")
        try peer(["read-password", Self.password, file.path, out])
        #expect(try Data(contentsOf: URL(filePath: out)) == data)
    }

    @Test(arguments: [
        ["1", "16384", "1", "1"], ["2", "13", "4", "3"], ["3", "1000", "0", "0"],
    ])
    func written(_ parameters: [String]) throws {
        var random = SeededGenerator()
        let data = random.bytes(70_000)
        let file = try PasswordFileUnderTest()
        let plain = file.folder.path(of: "plain")
        try FolderContents.write(data, to: plain)
        let id = random.bytes(16).map { String(format: "%02x", $0) }.joined()
        try peer(["write-password", Self.password] + parameters + [id, plain, file.path])
        #expect(try file.contents(Self.password) == data)
        #expect(throws: SealedFileError.wrongPassword(path: file.path)) { try file.open("another") }
    }

    @Test(arguments: [("1", "argon2id"), ("2", "scrypt"), ("3", "pbkdf2")])
    func publishedVector(_ way: (number: String, name: String)) throws {
        let published = try #require(
            Bundle.module.url(forResource: "Fixtures/\(way.name)", withExtension: "kcp"))
        let keys = try PasswordFileKeys(SecretBytes("correct horse battery staple"))
        let file = try SealedFile(published.path, .reading, password: keys)
        #expect(try file.read(100, at: 0) == Data("Data of a protected file.".utf8))
        let folder = try TemporaryFolder()
        try peer(["vector-password", way.number, folder.path(of: "file")])
        #expect(try Data(contentsOf: URL(filePath: folder.path(of: "file"))) == Data(contentsOf: published))
    }
}
