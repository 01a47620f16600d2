import Foundation
import Glibc
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface

/// What a vault's folder must look like, and that a folder that does not is refused and left alone.
@Suite struct VaultFolderTests {
    @Test(arguments: [0, 0o022, 0o077, 0o177, 0o777]) func filesAreTheOwnersAlone(_ mask: Int) throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "vault")
        let worker = try Worker(["create-with-umask", path, "\(mask)"])
        #expect(worker.readLine() == "ready")
        let contents = try FolderContents(of: path)
        #expect(contents.mode == S_IFDIR | 0o700)
        let store = try ItemStoreFile.name(inVault: path)
        let index = try #require(contents.entries.keys.first { $0.hasPrefix(store) && $0.hasSuffix(".pages") })
        #expect(
            Set(contents.entries.keys)
                == ["device-secret", "keybag", store, index, store + "-wal", store + "-shm", "lock"])
        for (name, entry) in contents.entries { #expect(entry.mode == S_IFREG | 0o600, "\(name)") }
        worker.cue()
        #expect(worker.remainingLines() == [])
        #expect(worker.wait() == 0)
        #expect(try EmbeddedVault.open(at: path).items(.password("s", "a")).count == 1)
    }

    @Test func madeWithItsParents() throws {
        let folder = try TemporaryFolder()
        _ = try EmbeddedVault.open(at: folder.path(of: "a/b/vault"))
        for name in ["a", "a/b", "a/b/vault"] {
            #expect(try FolderContents.mode(of: folder.path(of: name)) == S_IFDIR | 0o700)
        }
    }

    /// A closed vault with one item, and what happens when somebody has changed its files.
    private func expectRefusal(
        _ words: String..., sourceLocation: SourceLocation = #_sourceLocation,
        after change: (_ path: String) throws -> Void
    ) throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "vault")
        try Self.makeVault(path, "value")
        try change(path)
        let before = try FolderContents(of: path)
        do {
            _ = try EmbeddedVault.open(at: path)
            Issue.record("the vault opened", sourceLocation: sourceLocation)
        } catch {
            for word in words {
                #expect(error.description.contains(word), "\(error)", sourceLocation: sourceLocation)
            }
            let namesThePlace = error.description.contains(path) || error.description.contains("restore")
            #expect(namesThePlace, "\(error)", sourceLocation: sourceLocation)
        }
        #expect(try FolderContents(of: path) == before, sourceLocation: sourceLocation)
    }

    /// Returns the name of a file of a vault. That of the item store is the vault's own.
    private static func file(_ name: String, in path: String) throws -> String {
        name == "items" ? try ItemStoreFile.name(inVault: path) : name
    }

    private static func makeVault(_ path: String, _ value: String) throws {
        _ = try EmbeddedVault.open(at: path).add(.password("s", "a", value), as: .app)
    }

    @Test(arguments: ["device-secret", "keybag", "items", "lock"], [0o040, 0o004, 0o020, 0o002, 0o010])
    func filesOpenToOthers(_ name: String, _ bit: Int) throws {
        try expectRefusal(name, "chmod") { try chmod($0 + "/" + Self.file(name, in: $0), mode_t(0o600 | bit)) }
    }

    @Test(arguments: [0o770, 0o707, 0o701, 0o755]) func folderOpenToOthers(_ mode: Int) throws {
        try expectRefusal("chmod") { chmod($0, mode_t(mode)) }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
    func anotherUsersFiles() throws {
        for name in ["device-secret", "keybag", "items", "lock"] {
            try expectRefusal(name, "65534") { try chown($0 + "/" + Self.file(name, in: $0), 65534, 65534) }
        }
        try expectRefusal("65534") { chown($0, 65534, 65534) }
    }

    /// A link to the very file that belongs there is still a link.
    @Test(arguments: ["device-secret", "keybag", "items", "lock"]) func links(_ name: String) throws {
        try expectRefusal(name) { path in
            let name = try Self.file(name, in: path)
            try FileManager.default.moveItem(atPath: path + "/" + name, toPath: path + "/elsewhere")
            #expect(symlink("elsewhere", path + "/" + name) == 0)
        }
        try expectRefusal(name) { path in
            let name = try Self.file(name, in: path)
            unlink(path + "/" + name)
            #expect(symlink("/nowhere/at/all", path + "/" + name) == 0)
        }
    }

    @Test(arguments: ["device-secret", "keybag", "items", "lock"]) func foldersForFiles(_ name: String) throws {
        try expectRefusal(name) { path in
            let name = try Self.file(name, in: path)
            unlink(path + "/" + name)
            #expect(mkdir(path + "/" + name, 0o700) == 0)
        }
    }

    @Test(arguments: ["device-secret", "keybag", "items"]) func pipesForFiles(_ name: String) throws {
        try expectRefusal(name) { path in
            let name = try Self.file(name, in: path)
            unlink(path + "/" + name)
            #expect(mkfifo(path + "/" + name, 0o600) == 0)
        }
    }

    @Test(arguments: ["device-secret", "keybag", "items"]) func missingFiles(_ name: String) throws {
        try expectRefusal(name, "missing", "restore") { try unlink($0 + "/" + Self.file(name, in: $0)) }
    }

    @Test(arguments: ["device-secret", "keybag", "items"]) func emptyFiles(_ name: String) throws {
        try expectRefusal { try truncate($0 + "/" + Self.file(name, in: $0), 0) }
    }

    @Test(arguments: ["device-secret", "keybag"]) func hugeFiles(_ name: String) throws {
        try expectRefusal(name) { try truncate($0 + "/" + Self.file(name, in: $0), 1 << 22) }
    }

    @Test(arguments: ["device-secret", "keybag", "items"]) func anotherVaultsFiles(_ named: String) throws {
        let other = try TemporaryFolder()
        try Self.makeVault(other.path(of: "vault"), "other")
        try expectRefusal("restore") { path in
            let name = try Self.file(named, in: path)
            unlink(path + "/" + name)
            let others = other.path(of: "vault")
            try FileManager.default.copyItem(
                atPath: others + "/" + Self.file(named, in: others), toPath: path + "/" + name)
        }
    }

    /// A database of some other program is not touched, not even to find out.
    @Test func aForeignDatabase() throws {
        try expectRefusal { path in
            let store = try ItemStoreFile.path(inVault: path)
            unlink(store)
            let made = try Worker([store, "CREATE TABLE t (a); INSERT INTO t VALUES (1);"], command: "sqlite3")
            #expect(made.wait() == 0)
            chmod(store, 0o600)
        }
    }

    @Test func pathsThatCannotBe() throws {
        let folder = try TemporaryFolder()
        #expect(throws: VaultError.self) { try EmbeddedVault.open(at: "relative/vault") }
        #expect(throws: VaultError.self) { try EmbeddedVault.open(at: "") }
        try FolderContents.write(Data("text".utf8), to: folder.path(of: "file"))
        #expect(throws: VaultError.self) { try EmbeddedVault.open(at: folder.path(of: "file")) }
        #expect(throws: VaultError.self) { try EmbeddedVault.open(at: folder.path(of: "file/vault")) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["file"])
    }

    /// A keybag that was never put in its place may be one without a passcode.
    @Test func whatAKilledReplacementLeavesIsRemoved() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "vault")
        _ = try EmbeddedVault.open(at: path)
        let left = [
            ".keybag.7.8", ".attempts.7.8", ".file-agreement-key.7.8", ".device-secret.7.8", ".device-secret.next.7.8",
        ]
        for name in left { try Data("x".utf8).write(to: URL(fileURLWithPath: path + "/" + name)) }
        _ = try EmbeddedVault.open(at: path)
        let names = try FileManager.default.contentsOfDirectory(atPath: path)
        #expect(names.filter { left.contains($0) }.isEmpty)
        #expect(names.contains("keybag"))
    }
}
