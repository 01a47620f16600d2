import Foundation
import Glibc
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface

/// Disks that are full or read-only: an error that says so, and nothing lost that was stored before.
@Suite(.serialized) struct ScarceDiskTests {
    /// Whether this user may mount a file system of its own, in a namespace of its own.
    static let canMount: Bool = {
        let trial = try? Worker(["-rm", "mount", "-t", "tmpfs", "tmpfs", "/tmp"], command: "unshare")
        return trial?.wait() == 0
    }()

    private struct Outcome {
        var added: Int
        var failure: String?
        var held: Int?

        init(_ lines: [String]) {
            added = lines.filter { $0.hasPrefix("added ") }.count
            failure = lines.first { $0.hasPrefix("failed ") }?.dropFirst(7).description
            held = lines.first { $0.hasPrefix("held ") }.flatMap { Int($0.dropFirst(5)) }
        }
    }

    /// Room for 300 KB in each file; the log reaches that first.
    @Test func filesThatCannotGrow() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "vault")
        for round in 1...2 {
            let worker = try Worker(["fill-limited", path, "300000"])
            let outcome = Outcome(worker.remainingLines())
            #expect(worker.wait() == 0)
            #expect(outcome.failure == "inputOutput" || outcome.failure == "diskFull")
            #expect(round == 2 || outcome.added > 2)

            let vault = try EmbeddedVault.open(at: path)
            let stored = try vault.items(.password("fill", limit: nil))
            #expect(stored.count == outcome.added)
            #expect(outcome.held == outcome.added)
            for item in stored {
                #expect(item.value?.count == 30_000)
                #expect(item.value?.first.map { "\($0)" } == item.accountName)
            }
            #expect(try vault.verify(as: .owner).problems.isEmpty)
            #expect(try vault.delete(.password("fill", limit: nil), as: .app) == outcome.added)
        }
    }

    @Test(.enabled(if: canMount, "this user may not mount a small file system"))
    func fullFileSystem() throws {
        let folder = try TemporaryFolder()
        // The vault goes away with the namespace, so all of it is copied out at the end.
        let script = """
            mount -t tmpfs -o size=900k,mode=0700 tmpfs "$1" && mkdir "$2" &&
            "$0" fill "$1/vault" && "$0" reopen "$1/vault" && cp -a "$1/vault" "$2/vault"
            """
        try FileManager.default.createDirectory(atPath: folder.path(of: "disk"), withIntermediateDirectories: false)
        let worker = try Worker(
            ["-rm", "sh", "-c", script, Worker.executable, folder.path(of: "disk"), folder.path(of: "out")],
            command: "unshare")
        let lines = worker.remainingLines()
        #expect(worker.wait() == 0, "\(lines)")
        let outcome = Outcome(lines)
        #expect(outcome.failure == "diskFull" || outcome.failure == "inputOutput")
        #expect(outcome.added > 2)
        #expect(outcome.held == outcome.added)
        // On the full disk the vault opened and lost nothing.
        #expect(lines.last == "reopened \(outcome.added)")
        let vault = try EmbeddedVault.open(at: folder.path(of: "out/vault"))
        #expect(try vault.items(.password("fill", limit: nil)).count == outcome.added)
        #expect(try vault.verify(as: .owner).problems.isEmpty)
    }

    /// SQLite makes files beside the store to read it. Where there is no room for them, the error says so.
    @Test(.enabled(if: canMount, "this user may not mount a small file system"))
    func readingFromAFullFileSystem() throws {
        let folder = try TemporaryFolder()
        let script = """
            mount -t tmpfs -o size=900k,mode=0700 tmpfs "$1" && "$0" fixture "$1/vault" &&
            { dd if=/dev/zero of="$1/rest" bs=4k 2>/dev/null; "$0" reopen "$1/vault"; rm "$1/rest"; } &&
            "$0" reopen "$1/vault"
            """
        let worker = try Worker(
            ["-rm", "sh", "-c", script, Worker.executable, folder.path], command: "unshare")
        let lines = worker.remainingLines()
        #expect(worker.wait() == 0, "\(lines)")
        #expect(lines.first?.hasPrefix("error no space left on the disk") == true, "\(lines)")
        #expect(lines.last?.hasPrefix("reopened") == true, "\(lines)")
    }

    /// A folder that its owner may not write to. Root may write anywhere, so another user tries.
    @Test func readOnlyFolder() throws {
        let user: uid_t = geteuid() == 0 ? 65534 : geteuid()
        let folder = try TemporaryFolder()
        let path = folder.path(of: "vault")
        _ = try EmbeddedVault.open(at: path).add(.password("s", "a", "value"), as: .app)
        if geteuid() == 0 {
            chmod(folder.path, 0o711)
            chown(path, user, user)
        }
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            if geteuid() == 0 { chown(path + "/" + name, user, user) }
            chmod(path + "/" + name, 0o400)
        }
        chmod(path, 0o500)
        let before = try FolderContents(of: path)
        let worker = try Worker(["open-as", path, "\(user)"])
        let lines = worker.remainingLines()
        #expect(worker.wait() == 0)
        #expect(lines.count == 1)
        let refusal = try #require(lines.first)
        #expect(refusal.hasPrefix("refused "))
        #expect(refusal.contains(path))
        #expect(try FolderContents(of: path) == before)
        chmod(path, 0o700)
    }
}
