import Bytes
import Crypto
import Foundation
import KeychainModel
import TestSupport
import Testing
import VaultInterface

@testable import ProtectedFiles

/// Files go back and forth between this package and `Peer/protected_file.py`, which was written from the description of
/// the format.
@Suite struct PeerTests {
    static let group = 128 * 65_536

    private static let peer = Result {
        try PythonPeer(
            URL(filePath: #filePath).deletingLastPathComponent().appendingPathComponent("Peer/protected_file.py").path)
    }

    private func peer(_ arguments: [String]) throws { _ = try Self.peer.get().ask(arguments) }

    private func hexadecimal(_ bytes: Data) -> String { bytes.map { String(format: "%02x", $0) }.joined() }

    private func key(of file: FileUnderTest) throws -> String {
        let header = try FileHeader([UInt8](try file.bytes.prefix(4096)), path: file.path)
        let key = try file.keys.fileKey(
            for: header.fileClass(file.path), file: Data(header.file), wrapped: header.wrapped)
        return hexadecimal(key.withUnsafeBytes { Data($0) })
    }

    /// What the peer finds in a file.
    private func read(_ file: FileUnderTest) throws -> Data {
        let out = file.folder.path(of: "data")
        try peer(["read", key(of: file), file.path, out])
        return try Data(contentsOf: URL(filePath: out))
    }

    @Test(arguments: [0, 1, 65_535, 65_536, 65_537, group - 1, group, group + 1, 3 * group + 1])
    func bothWays(size: Int) throws {
        var random = SeededGenerator()
        let data = random.bytes(size)
        #expect(try read(FileUnderTest(data)) == data)

        let file = try FileUnderTest()
        let (id, key) = (random.bytes(16), random.bytes(32))
        let wrapped = try file.keys.wrap(SymmetricKey(data: key), FileProtectionClass.none, id).wrapped
        let plain = file.folder.path(of: "plain")
        try FolderContents.write(data, to: plain)
        try peer(["write", hexadecimal(key), hexadecimal(wrapped), hexadecimal(id), "4", plain, file.path])
        #expect(try file.contents() == data)
        #expect(try file.open().fileClass == .none)
        #expect(try file.open().identifier == id)
        #expect(try file.open().verify().isSound)
    }

    /// What changes in place and holes make of a file.
    @Test func changedFiles() throws {
        var random = SeededGenerator()
        let file = try FileUnderTest(Data())
        var script = FileScript(seed: random.next(), limit: 12 << 20)
        for round in 0..<TestScale.count(3, soak: 30) {
            for _ in 0..<25 { try file.open(.writing).perform(script.next(), keys: file.keys) }
            #expect(try read(file) == script.data, "round \(round), seed \(random.seed)")
        }
    }

    /// A file with a journal that nobody has carried out yet.
    @Test func journal() throws {
        var random = SeededGenerator()
        let (old, new) = (random.bytes(9 << 20), random.bytes(150_000))
        let file = try FileUnderTest(old)
        _ = try file.interrupt(new, at: 8 << 20)
        var changed = old
        changed.replaceSubrange((8 << 20)..<((8 << 20) + new.count), with: new)
        #expect(try read(file) == changed)
    }

    /// The keys of the published vector.
    private struct VectorKeys: FileKeySource {
        func fileKey(
            for fileClass: FileProtectionClass, file: Data, wrapped: Data
        ) throws(VaultError) -> SecretBytes {
            guard fileClass == .complete, file == Data(0x40...0x4F), wrapped == Data(repeating: 0xAA, count: 40) else {
                throw .authenticationFailed
            }
            do { return try SecretBytes(count: 32) { $0.copyBytes(from: 0...31) } } catch { throw .memoryUnavailable }
        }

        func makeFileKey(for fileClass: FileProtectionClass, file: Data) throws(VaultError) -> FileKey {
            throw .authenticationFailed
        }

        func rewrapFileKey(
            from: FileProtectionClass, to: FileProtectionClass, file: Data, wrapped: Data
        ) throws(VaultError) -> Data {
            throw .authenticationFailed
        }
    }

    @Test func publishedVector() throws {
        let published = try #require(Bundle.module.url(forResource: "Fixtures/v1", withExtension: nil))
        let file = try SealedFile(published.path, .reading, keys: VectorKeys())
        #expect(try file.read(100, at: 0) == Data("Data of a protected file.".utf8))
        let folder = try TemporaryFolder()
        try peer(["vector", folder.path(of: "v1")])
        #expect(try Data(contentsOf: URL(filePath: folder.path(of: "v1"))) == Data(contentsOf: published))
    }
}
