import Foundation
import Glibc
import TestSupport
import Testing

/// The classes of files and folders of a mount, and other extended attributes.
@Suite struct ClassTests {
    private func fileClass(_ mount: MountUnderTest, _ name: String) throws -> String {
        try mount.python("print(os.getxattr('\(name)', 'user.keychain.class').decode(), end='')")
    }

    @Test func newFilesGetTheClassOfTheirFolder() throws {
        let mount = try MountUnderTest(["--class", "complete"])
        try mount.shell("mkdir -p a/b; echo x > a/b/file; echo x > file")
        for name in [".", "file", "a", "a/b", "a/b/file"] {
            #expect(try fileClass(mount, name) == "complete", "\(name)")
        }
        try mount.keychain(["file", "set-class", mount.path("file"), "--class", "none"])
        _ = try mount.python("os.setxattr('a', 'user.keychain.class', b'complete-unless-open')")
        try mount.shell("echo x > a/new; mkdir a/c; echo x > a/c/new; echo x > a/b/new; mv a/b/file a/moved")
        let expected = [
            "file": "none", "a": "complete-unless-open", "a/new": "complete-unless-open",
            "a/c/new": "complete-unless-open",
            "a/b": "complete", "a/b/new": "complete", "a/moved": "complete",
        ]
        for _ in 0..<2 {
            for (name, found) in expected { #expect(try fileClass(mount, name) == found, "\(name)") }
            #expect(try mount.shell("cat file a/new a/c/new a/b/new a/moved") == "x\nx\nx\nx\nx\n")
            try mount.unmount()
            try mount.mount()
        }
        // Below they are protected files as any other.
        try mount.unmount()
        #expect(try mount.keychain(["file", "verify", mount.below]).status == 0)
        let info = try mount.keychain(["file", "info", mount.below, "--json"]).text
        for name in ["\"none\"", "\"complete\"", "\"complete-unless-open\""] {
            #expect(info.contains(name))
        }
        // What keeps the classes of folders and the key to the names stays as it is.
        #expect(!info.contains(".keychain"))
        try mount.keychain(["file", "set-class", mount.below, "--class", "none"])
        try mount.mount()
        #expect(try mount.shell("cat file a/new a/c/new a/b/new a/moved") == "x\nx\nx\nx\nx\n")
        #expect(try fileClass(mount, "a/c") == "complete-unless-open")
    }

    @Test func theClassOfAnOpenFileChanges() throws {
        let mount = try MountUnderTest(["--class", "none"], hasPasscode: true)
        try mount.put(Array("data".utf8), "file")
        let file = try mount.open("file", O_RDWR)
        #expect(try file.write(Array("more".utf8), at: 4) == 4)
        try mount.keychain(["file", "set-class", mount.path("file"), "--class", "complete"])
        #expect(try mount.contents("file") == Array("datamore".utf8))
        try mount.lock()
        try eventually("the file closes") { try file.readError() != 0 }
        #expect(try file.readError() == EACCES)
        // A class that is closed cannot be left either.
        try mount.keychain(["file", "set-class", mount.path("file"), "--class", "none"], status: 1)
    }

    /// In the folder below, with what keeps its class and the key to its names. The view has none of these.
    @Test func keysAreWrappedAnewBelow() throws {
        let mount = try MountUnderTest(["--class", "complete-unless-open"])
        try mount.put(Array("data".utf8), "file")
        let named = try mount.keychain(["rekey", "--files-only", mount.point], status: 1)
        #expect(named.errors.contains("is in a mounted folder: name the folder that is mounted there"))
        let outcome = try mount.keychain(["rekey", "--files-only", mount.folder.path])
        #expect(outcome.text.hasPrefix("1 file renewed, 2 renewed already, "), "\(outcome.text)")
        #expect(outcome.errors.contains("mounted folders were left alone"))
        #expect(try mount.contents("file") == Array("data".utf8))
        try mount.unmount()
        #expect(
            try mount.keychain(["rekey", "--files-only", mount.below]).text == "1 file renewed, 2 renewed already\n")
        try mount.mount()
        #expect(try mount.contents("file") == Array("data".utf8))
    }

    @Test func attributes() throws {
        let mount = try MountUnderTest()
        let text = try mount.python(
            """
            open('f', 'w').close()
            os.setxattr('f', 'user.a', b'1')
            os.setxattr('f', 'user.b', b'x' * 1000)
            print(sorted(os.listxattr('f')), os.getxattr('f', 'user.a'), len(os.getxattr('f', 'user.b')))
            os.removexattr('f', 'user.a')
            print(sorted(os.listxattr('f')))
            def refused(work):
                try: work()
                except OSError as error: return error.strerror
            print(refused(lambda: os.setxattr('f', 'user.keychain.class', b'nonsense')))
            print(refused(lambda: os.removexattr('f', 'user.keychain.class')))
            print(refused(lambda: os.setxattr('f', 'trusted.x', b'1')))
            print(refused(lambda: os.setxattr('f', 'user.b', b'1', os.XATTR_CREATE)))
            print(refused(lambda: os.setxattr('f', 'user.c', b'1', os.XATTR_REPLACE)))
            """)
        let expected = [
            "['user.a', 'user.b', 'user.keychain.class'] b'1' 1000", "['user.b', 'user.keychain.class']",
            "Invalid argument", "Operation not permitted", "Operation not supported", "File exists",
            "No data available",
        ]
        #expect(text.split(separator: "\n").map(String.init) == expected)
    }
}
