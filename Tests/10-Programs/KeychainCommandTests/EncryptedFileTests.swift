import Foundation
import Glibc
import TestSupport
import Testing

/// Encrypting with a password when somebody types it, and when it does not come to its end.
@Suite struct EncryptedFileTests {
    private static let cheap = ["--memory", "8", "--passes", "1"]

    @Test func passwordIsTypedTwiceWithoutEcho() throws {
        let workplace = try Workplace()
        try Data("data".utf8).write(to: URL(filePath: workplace.path + "/a"))
        let path = workplace.path + "/a"
        let terminal = try Pseudoterminal(workplace, ["keychain", "file", "encrypt", path] + Self.cheap)
        try terminal.expect("Password: ")
        #expect(!terminal.isEchoing)
        terminal.type("hunter2\n")
        try terminal.expect("Password again: ")
        #expect(!terminal.isEchoing)
        terminal.type("hunter2\n")
        #expect(try terminal.finish() == 0)
        #expect(!terminal.screen.contains("hunter2"))

        let reader = try Pseudoterminal(workplace, ["keychain", "file", "decrypt", path + ".kcp", "--force"])
        try reader.expect("Password: ")
        #expect(!reader.isEchoing)
        reader.type("hunter2\n")
        #expect(try reader.finish() == 0)
        #expect(try Data(contentsOf: URL(filePath: path)) == Data("data".utf8))
    }

    @Test func differentPasswordsMakeNoFile() throws {
        let workplace = try Workplace()
        try Data("data".utf8).write(to: URL(filePath: workplace.path + "/a"))
        let terminal = try Pseudoterminal(workplace, ["keychain", "file", "encrypt", workplace.path + "/a"])
        try terminal.expect("Password: ")
        terminal.type("one\n")
        try terminal.expect("Password again: ")
        terminal.type("other\n")
        #expect(try terminal.finish() == 1)
        #expect(terminal.screen.contains("the two passwords differ: nothing was changed, try again"))
        #expect(!FileManager.default.fileExists(atPath: workplace.path + "/a.kcp"))
    }

    /// A process that is killed in the middle leaves nothing, and what it would have replaced as it was.
    @Test(arguments: [[], ["--force"]])
    func killed(_ options: [String]) throws {
        let workplace = try Workplace()
        let folder = workplace.path + "/folder"
        let former = options.isEmpty ? [] : ["out"]
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        for name in former { try Data("former".utf8).write(to: URL(filePath: "\(folder)/\(name)")) }
        let worker = try Worker(
            ["file", "encrypt", "-", "--output", folder + "/out", "--password-fd", "0"] + Self.cheap + options,
            command: workplace.path + "/bin/keychain")
        worker.send(Array("right\n".utf8))
        // More than is in the memory of the process and of the sockets: it has written by then.
        for _ in 0..<64 { worker.send([UInt8](repeating: 1, count: 1 << 17)) }
        worker.kill()
        #expect(worker.wait() == 128 + SIGKILL)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == former)
        for name in former { #expect(try Data(contentsOf: URL(filePath: "\(folder)/\(name)")) == Data("former".utf8)) }
    }

    private static let canMount: Bool = {
        let trial = try? Worker(["-rm", "mount", "-t", "tmpfs", "tmpfs", "/tmp"], command: "unshare")
        return trial?.wait() == 0
    }()

    @Test(.enabled(if: canMount, "this user may not mount a small file system"))
    func fullDisk() throws {
        let workplace = try Workplace()
        let outcome = try workplace.shell(
            """
            mkdir small; printf right > right; head -c 3000000 /dev/zero > data
            keychain file encrypt data --memory 8 --passes 1 --password-fd 3 3<right 2>note
            exec unshare -rm sh -c '
                mount -t tmpfs -o size=1m,mode=0700 tmpfs small
                keychain file encrypt data --output small/out --memory 8 --passes 1 --password-fd 3 3<right; echo $?
                keychain file decrypt data.kcp --output small/out --password-fd 3 3<right; echo $?
                keychain file decrypt data.kcp --output - --password-fd 3 3<right >/dev/full; echo $?
                ls -A small'
            """)
        #expect(outcome.text == "data.kcp written; data is kept\n1\n1\n1\n")
        let lines = Transcript.lines(outcome.errors)
        #expect(lines.count == 3)
        #expect(lines.allSatisfy { $0.contains("no space left to write") })
    }
}
