import Foundation
import Glibc
import TestSupport
import Testing

@testable import MountedFolder

/// How names and links look below, and what is done with those that are none of the view's.
@Suite struct NameTests {
    private func bytes(_ name: [UInt8]) throws -> String {
        let key = NameKey([UInt8](repeating: 7, count: 32))
        let encrypted = try key.names(inFolder: Data(repeating: 9, count: 16)).encrypt(name)
        return encrypted.text
    }

    @Test func namesComeBack() throws {
        var random = SeededGenerator()
        let cipher = NameKey([UInt8](random.bytes(32))).names(inFolder: random.bytes(16))
        let other = NameKey([UInt8](random.bytes(32))).names(inFolder: random.bytes(16))
        for count in 1...NameCipher.limit {
            // "." and ".." are names of no file.
            let name = [UInt8](random.bytes(count)).map {
                [0, UInt8(ascii: "/"), UInt8(ascii: ".")].contains($0) ? 1 : $0
            }
            let encrypted = try cipher.encrypt(name).text
            #expect(encrypted.utf8.count <= 255 && encrypted.utf8.count >= 23)
            #expect(try cipher.encrypt(name).text == encrypted)
            #expect(cipher.decrypt(Array(encrypted.utf8)) == name)
            #expect(other.decrypt(Array(encrypted.utf8)) == nil)
            // One text for each name: nothing else leads to it.
            for place in 0..<encrypted.utf8.count where count < 20 {
                for change in UInt8(1)...7 {
                    var changed = Array(encrypted.utf8)
                    changed[place] ^= change
                    #expect(cipher.decrypt(changed) == nil)
                }
            }
        }
        #expect(throws: Errno(ENAMETOOLONG)) {
            try cipher.encrypt([UInt8](repeating: 65, count: NameCipher.limit + 1))
        }
    }

    @Test func anyName() throws {
        let mount = try MountUnderTest()
        var random = SeededGenerator()
        var names = Set(
            [
                ".keychain-folder", ".keychain-names", ".new.x", "-", " ", "\n", "Grüße", "名前", ".hidden", "a\\b",
            ].map { Array($0.utf8) })
        for byte in UInt8(1)...255 where byte != UInt8(ascii: "/") && byte != UInt8(ascii: ".") { names.insert([byte]) }
        names.insert([UInt8](repeating: 0xFF, count: 175))
        for _ in 0..<20 { names.insert([UInt8](random.bytes(100)).map { $0 == 0 || $0 == 0x2F ? 0x61 : $0 }) }
        let encoded = names.map { "'\(Data($0).base64EncodedString())'" }.joined(separator: ", ")
        let made = try mount.python(
            """
            for name in [\(encoded)]:
                print(attempt(lambda: os.close(os.open(base64.b64decode(name), os.O_CREAT | os.O_EXCL, 0o600))), name)
            """)
        #expect(made.split(separator: "\n").allSatisfy { $0.hasPrefix("0 ") }, "\(made)")
        #expect(made.split(separator: "\n").count == names.count)
        for _ in 0..<2 {
            #expect(try listView(mount) == names)
            try mount.unmount()
            // Nothing of them is seen below.
            let below = try list(mount.below)
            #expect(below.count == names.count + 2)
            for name in below.subtracting([Array(".keychain-folder".utf8), Array(".keychain-names".utf8)]) {
                #expect(name.allSatisfy { $0 == 0x2D || $0 == 0x5F || $0.isASCIIAlphanumeric })
            }
            try mount.mount()
        }
        let long = mount.path(String(repeating: "n", count: 176))
        #expect(mkdir(long, 0o700) == -1 && errno == ENAMETOOLONG)
        #expect(access(long, F_OK) == -1 && errno == ENAMETOOLONG)
        #expect(pathconf(mount.point, Int32(_PC_NAME_MAX)) == 175)
    }

    /// By the peer: this process has nothing in the mount open.
    private func listView(_ mount: MountUnderTest) throws -> Set<[UInt8]> {
        let text = try mount.python("for name in os.listdir(b'.'): print(base64.b64encode(name).decode())")
        return Set(try text.split(separator: "\n").map { Array(try #require(Data(base64Encoded: String($0)))) })
    }

    private func list(_ path: String) throws -> Set<[UInt8]> {
        guard let stream = opendir(path) else { throw MountTestError("cannot list \(path)") }
        defer { closedir(stream) }
        var names = Set<[UInt8]>()
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            names.insert(name)
        }
        return names.subtracting([[0x2E], [0x2E, 0x2E]])
    }

    @Test func foreignFilesAreLeftOut() throws {
        let mount = try MountUnderTest()
        try mount.shell("mkdir d; echo mine > d/mine; echo other > other; mkdir empty")
        try mount.unmount()
        let folders = try list(mount.below).map { String(decoding: $0, as: UTF8.self) }
        let folder = try #require(
            folders.first { name in
                (try? list("\(mount.below)/\(name)").count) == 2
            })
        // A plain file, a protected one of another folder, and a folder without a record.
        let file = try #require(
            try list("\(mount.below)/\(folder)").map { String(decoding: $0, as: UTF8.self) }
                .first { !$0.hasPrefix(".") })
        // An encrypted name may begin as an option does.
        try mount.shell(
            "echo x > plain; cp -- \(folder)/\(file) .; mkdir AAAA; cp -- \(folder)/\(file) \(folder)/.\(file)",
            in: mount.below)
        try mount.mount()
        #expect(try mount.shell("ls -A; ls -A d; cat d/mine") == "d\nempty\nother\nmine\nmine\n")
        #expect(access(mount.path("plain"), F_OK) == -1 && errno == ENOENT)
        // Somebody's file is not thrown away with the folder.
        #expect(try mount.shell("rm d/mine; rmdir d 2>&1 || true").contains("not empty"))
        // Contents that are no protected file's, under a name of the view.
        try mount.shell("rmdir empty")
        let name = try #require(folders.first { isFile("\(mount.below)/\($0)") })
        try Data("no header".utf8).write(to: URL(fileURLWithPath: "\(mount.below)/\(name)"))
        #expect(try mount.openError("other") == EIO)
        #expect(try mount.shell("ls -A") == "d\nother\n")
    }

    private func isFile(_ path: String) -> Bool {
        var information = stat()
        return lstat(path, &information) == 0 && information.st_mode & S_IFMT == S_IFREG && !path.contains("/.")
    }

    @Test func foldersThatAreNoneAreRefused() throws {
        let mount = try MountUnderTest(nil)
        try mount.shell("echo plain > file", in: mount.below)
        let outcome = try mount.keychain(["mount", mount.below, mount.point], status: 1)
        #expect(outcome.errors.contains("file"), "\(outcome.errors)")
        #expect(try mount.shell("ls -A", in: mount.below) == "file\n")
        try mount.shell("rm file", in: mount.below)
        try mount.keychain(["mount", mount.below, mount.point, "--read-only"], status: 1)
        try mount.mount(["--class", "complete"])
        #expect(
            try mount.keychain(["mount", mount.below, mount.folder.path(of: "vault")], status: 1).errors.contains(
                "not empty"))
        try mount.shell("mkdir other", in: mount.folder.path)
        let again = try mount.keychain(["mount", mount.below, mount.folder.path(of: "other")], status: 1)
        #expect(again.errors.contains("mounted already"), "\(again.errors)")
        try mount.unmount()
        try mount.keychain(["mount", mount.below, mount.point, "--class", "none"], status: 1)
        // Names without their key.
        try mount.shell("mv .keychain-names ../names", in: mount.below)
        #expect(try mount.keychain(["mount", mount.below, mount.point], status: 1).errors.contains("key"))
        try mount.shell("mv ../names .keychain-names; : > .keychain-folder", in: mount.below)
        try mount.keychain(["mount", mount.below, mount.point], status: 1)
    }

    @Test func links() throws {
        let mount = try MountUnderTest()
        try mount.shell(
            """
            mkdir a b; echo data > a/file; ln -s ../a/file b/link; ln -s nowhere dangling; ln a/file b/hard
            test "$(readlink b/link)" = ../a/file; test "$(cat b/link)" = data
            mv b/link a/link; test "$(readlink a/link)" = ../a/file
            test "$(stat -c %s dangling)" = 7; test "$(stat -c %h a/file)" = 2
            ln dangling twice; test "$(readlink twice)" = nowhere
            """)
        let target = String(repeating: "t", count: LinkCipher.limit)
        #expect(symlink(target, mount.path("long")) == 0)
        #expect(try mount.shell("readlink long") == target + "\n")
        #expect(symlink(target + "t", mount.path("longer")) == -1 && errno == ENAMETOOLONG)
        try mount.unmount()
        #expect(
            try mount.shell("find . -type l | while read l; do readlink $l; done", in: mount.below).contains("nowhere")
                == false)
    }
}

extension NameKey {
    init(_ bytes: [UInt8]) { self = bytes.withUnsafeBytes { NameKey($0) } }
}

extension NameCipher {
    func encrypt(_ name: [UInt8]) throws(Errno) -> EncryptedName {
        let result = name.withUnsafeBytes { bytes in Result { () throws(Errno) in try encrypt(bytes) } }
        return try result.get()
    }
}

extension UInt8 {
    fileprivate var isASCIIAlphanumeric: Bool {
        (0x30...0x39).contains(self) || (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self)
    }
}
