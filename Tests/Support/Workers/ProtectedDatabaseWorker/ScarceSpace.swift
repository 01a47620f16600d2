import Foundation
import GRDB
import Glibc
import ProtectedDatabase

/// Conversions of a database for which there is no room, on a small file system.
struct ScarceSpace {
    private let file: ProtectedDatabaseFile
    /// Whether files may not grow, rather than the file system having no room.
    private let isLimited: Bool
    private var ballast: String { file.path + ".ballast" }
    private var folder: String { URL(fileURLWithPath: file.path).deletingLastPathComponent().path }

    init(_ file: ProtectedDatabaseFile, isLimited: Bool) {
        (self.file, self.isLimited) = (file, isLimited)
        signal(SIGXFSZ, SIG_IGN)
    }

    func run(_ emit: (String) -> Void) throws {
        let plain = try DatabaseQueue(path: file.path)
        try plain.write { db in
            try db.execute(sql: "CREATE TABLE note (id INTEGER PRIMARY KEY, bytes BLOB)")
            for _ in 0..<40_000 { try db.execute(sql: "INSERT INTO note (bytes) VALUES (randomblob(100))") }
        }
        try plain.close()
        try scarcely("encrypt", { try file.encrypt(progress: $0) }, emit)
        try scarcely("rekey", { try file.changeKey(progress: $0) }, emit)
        try scarcely("decrypt", { try file.decrypt(progress: $0) }, emit)
    }

    /// Converts with no room from the start, then with none left on the way, then with enough.
    private func scarcely(
        _ name: String, _ convert: ((ProtectedDatabaseFile.Progress) -> Bool) throws -> Void, _ emit: (String) -> Void
    ) throws {
        let before = try contents()
        if !isLimited {
            try fill()
            emit("\(name) \(outcome { try convert { _ in true } })")
            unlink(ballast)
        }
        emit(
            "\(name) "
                + outcome {
                    try convert { _ in
                        try? restrict()
                        return true
                    }
                })
        try release()
        guard try contents() == before else { return emit("\(name) changed \(try contents().keys)") }
        try convert { _ in true }
        emit("\(name) done")
    }

    private func outcome(_ body: () throws -> Void) -> String {
        do {
            try body()
            return "passed"
        } catch {
            return (error as? ProtectedDatabaseError).map { "\($0.code)" } ?? "\(error)"
        }
    }

    /// Leaves next to no room.
    private func fill() throws {
        let descriptor = open(ballast, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        var piece = 1 << 20
        var offset: off_t = 0
        while piece >= 4096 {
            if posix_fallocate(descriptor, offset, off_t(piece)) == 0 {
                offset += off_t(piece)
            } else {
                piece /= 2
            }
        }
    }

    private func restrict() throws {
        guard isLimited else { return try fill() }
        var limit = rlimit(rlim_cur: 1 << 20, rlim_max: .max)
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    }

    private func release() throws {
        unlink(ballast)
        var limit = rlimit(rlim_cur: .max, rlim_max: .max)
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    }

    private func contents() throws -> [String: Data] {
        try FileManager.default.contentsOfDirectory(atPath: folder).reduce(into: [:]) {
            $0[$1] = FileManager.default.contents(atPath: folder + "/" + $1)
        }
    }
}
