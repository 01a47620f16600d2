import DataProtection
import Foundation
import KeychainTesting
import TestSupport
import Testing

/// Marks that backups heed.
@Suite struct BackupTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func run(_ command: String, _ arguments: String...) throws -> [String] {
        let worker = try Worker(arguments, command: command)
        let lines = worker.remainingLines()
        #expect(worker.wait() == 0)
        return lines
    }

    @Test func files() throws {
        let file = URL(filePath: folder.path(of: "file"))
        #expect(throws: ProtectedFileError(.fileNotFound, message: "")) { try file.setExcludedFromBackup(true) }
        #expect(throws: ProtectedFileError(.fileNotFound, message: "")) { try file.isExcludedFromBackup() }
        try Data("x".utf8).write(to: file)
        #expect(try !file.isExcludedFromBackup())
        try file.setExcludedFromBackup(false)
        for _ in 0..<2 { try file.setExcludedFromBackup(true) }
        #expect(try file.isExcludedFromBackup())
        // As other programs see it.
        let seen = try run(
            "python3", "-c", "import os, sys; print(os.getxattr(sys.argv[1], 'user.xdg.robots.backup').decode())",
            file.path)
        #expect(seen == ["false"])
        // Kept when it is protected, and when its contents are replaced in their place.
        try withTestKeychain { _ in
            try ProtectedFile(file).setProtection(.complete)
            #expect(try file.isExcludedFromBackup())
            try ProtectedFileHandle(forWritingTo: file).write(contentsOf: Data("y".utf8))
            #expect(try file.isExcludedFromBackup())
        }
        try file.setExcludedFromBackup(false)
        #expect(try !file.isExcludedFromBackup())
    }

    @Test func folders() throws {
        let cache = URL(filePath: folder.path(of: "all/cache"), directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: cache, withIntermediateDirectories: true)
        try Data("x".utf8).write(to: cache.appending(path: "file"))
        func archived() throws -> [String] {
            let archive = folder.path(of: "archive.tar")
            _ = try run("tar", "--exclude-caches", "-C", folder.path, "-cf", archive, "all")
            return try run("tar", "-tf", archive).sorted()
        }
        #expect(try archived().contains("all/cache/file"))
        for _ in 0..<2 { try cache.setExcludedFromBackup(true) }
        #expect(try cache.isExcludedFromBackup())
        #expect(try !archived().contains("all/cache/file"))
        try cache.setExcludedFromBackup(false)
        #expect(try !cache.isExcludedFromBackup())
        #expect(try archived().contains("all/cache/file"))
        // Of another program.
        let tag = cache.appending(path: "CACHEDIR.TAG")
        try Data("Signature: 8a477f597d28d172789f06886806bc55".utf8).write(to: tag)
        #expect(try cache.isExcludedFromBackup())
        // Something else with that name is neither taken for a mark nor overwritten.
        try Data("my own".utf8).write(to: tag)
        #expect(try !cache.isExcludedFromBackup())
        #expect(throws: ProtectedFileError(.fileExists, message: "")) { try cache.setExcludedFromBackup(true) }
        #expect(try Data(contentsOf: tag) == Data("my own".utf8))
    }
}
