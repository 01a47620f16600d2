import Foundation
import Glibc
import TestSupport
import Testing

/// Full disks, quotas and limits: an error that says so, and everything is as it was before.
@Suite(.serialized) struct ScarceSpaceTests {
    private static let operations = ["protect", "unprotect", "overwrite", "append", "class", "create"]

    private static func script(_ lines: String, _ folder: TemporaryFolder, as root: Bool) throws -> (Int32, [String]) {
        let worker = try Worker(
            [root ? "-m" : "-rm", "sh", "-ec", lines, UnprivilegedWorker.program, folder.path], command: "unshare")
        let said = worker.remainingLines()
        return (worker.wait(), said)
    }

    private static func canRun(_ lines: String, as root: Bool) -> Bool {
        guard !root || geteuid() == 0, let folder = try? TemporaryFolder() else { return false }
        return (try? script(lines, folder, as: root).0) == 0
    }

    private func expect(_ outcome: String, _ lines: [String]) {
        #expect(lines == Self.operations.map { "\($0) \(outcome)" } + Self.operations.reversed().map { "\($0) done" })
    }

    private static let small = #"mount -t tmpfs -o size=4m,mode=0700 tmpfs "$1""#

    @Test(.enabled(if: canRun(small, as: false), "this user may not mount a small file system"))
    func fullDisk() throws {
        let (status, lines) = try Self.script(Self.small + #"; "$0" scarce "$1" 0"#, TemporaryFolder(), as: false)
        #expect(status == 0)
        expect("full", lines)
    }

    /// The space is looked at before the first byte is written, not found to be missing on the way.
    @Test(.enabled(if: canRun(small, as: false), "this user may not mount a small file system"))
    func fullDiskIsNoticedFirst() throws {
        let (status, lines) = try Self.script(Self.small + #"; "$0" room "$1" 3000000"#, TemporaryFolder(), as: false)
        #expect(status == 0)
        #expect(lines == ["protect full 0", "unprotect full 0", "protect done 65536", "unprotect done 65536"])
    }

    /// btrfs has quotas for parts of itself (btrfs-quota(8)).
    private static let quota = """
        truncate -s 128M "$1/image"
        mkfs.btrfs -q "$1/image" >/dev/null 2>&1
        mkdir "$1/disk"
        mount -o loop "$1/image" "$1/disk"
        btrfs quota enable "$1/disk" >/dev/null
        btrfs subvolume create "$1/disk/part" >/dev/null
        btrfs qgroup limit 8M "$1/disk/part"
        """

    @Test(.enabled(if: canRun(quota, as: true), "this user or kernel has no btrfs with quotas"))
    func exceededQuota() throws {
        let (status, lines) = try Self.script(
            Self.quota + "\n" + #""$0" scarce "$1/disk/part" 0"#, TemporaryFolder(), as: true)
        #expect(status == 0)
        expect("full", lines)
    }

    /// `ulimit -f`, beyond which the kernel sends SIGXFSZ, which must not end the process.
    @Test func limitedFiles() throws {
        let folder = try TemporaryFolder()
        let worker = try Worker(["scarce", folder.path, "250000"], command: UnprivilegedWorker.program)
        expect("too large", worker.remainingLines())
        #expect(worker.wait() == 0)
    }
}
