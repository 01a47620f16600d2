import Foundation
import Glibc
import KeychainModel
import ProtectedFiles
import TestSupport

/// Every operation where there is no room for it, and then again where there is.
struct Scarcity {
    private let folder: String
    /// How large a file may be, in bytes; 0 to fill the disk.
    private let limit: UInt64
    private let keys = MemoryFileKeys()
    private let data = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 1000) })
    private var plain: String { folder + "/plain" }
    private var sealed: String { folder + "/sealed" }
    /// Is open all the time, and changed in place.
    private var changed: String { folder + "/changed" }
    private var filler: String { folder + "/filler" }

    init(_ folder: String, limit: UInt64) {
        (self.folder, self.limit) = (folder, limit)
    }

    private func operations(_ open: SealedFile) -> [(name: String, run: () throws(SealedFileError) -> Void)] {
        let conversion = FileConversion(keys: keys)
        let path = folder + "/new"
        return [
            ("protect", { () throws(SealedFileError) in try conversion.protect(plain, .complete) }),
            ("unprotect", { () throws(SealedFileError) in try conversion.unprotect(sealed) }),
            ("overwrite", { () throws(SealedFileError) in try open.write(data.suffix(200_000), at: 10) }),
            ("append", { () throws(SealedFileError) in try open.append(data) }),
            ("class", { () throws(SealedFileError) in try open.changeClass(to: .none, keys: keys) }),
            ("create", { () throws(SealedFileError) in try create(path) }),
        ]
    }

    /// Says of each operation how it ended, and whether all files were left as they were.
    func run(_ emit: (String) -> Void) throws {
        // Nothing else is to be written by this process, not even what its libraries keep in files.
        signal(SIGXFSZ, SIG_IGN)
        try data.write(to: URL(filePath: plain))
        for path in [sealed, changed] { try create(path) }
        let open = try SealedFile(changed, .writing, keys: keys)
        try makeScarce()
        let before = try state()
        for operation in operations(open) {
            emit("\(operation.name) \(outcome(operation.run))\n")
            if try state() != before { emit("\(operation.name) changed something\n") }
            for path in [sealed, changed]
            where try SealedFile(path, .reading, keys: keys).read(400_000, at: 0) != data {
                emit("\(operation.name) lost data\n")
            }
        }
        end()
        for operation in operations(open).reversed() { emit("\(operation.name) \(outcome(operation.run))\n") }
    }

    private func create(_ path: String) throws(SealedFileError) {
        let writer = try SealedFileWriter(path, .complete, keys: keys)
        try writer.write(data)
        try writer.finish(replacing: false)
    }

    private func outcome(_ body: () throws(SealedFileError) -> Void) -> String {
        do throws(SealedFileError) {
            try body()
            return "done"
        } catch {
            switch error {
            case .diskFull: return "full"
            case .system(_, _, EFBIG): return "too large"
            default: return "\(error)"
            }
        }
    }

    private func makeScarce() throws {
        if limit > 0 {
            return limitFiles(to: rlim_t(limit))
        }
        let descriptor = Glibc.open(filler, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        let block = [UInt8](repeating: 1, count: 4096)
        while write(descriptor, block, block.count) > 0 {}
        fsync(descriptor)
        close(descriptor)
    }

    private func end() {
        if limit > 0 {
            limitFiles(to: .max)
        } else {
            unlink(filler)
        }
    }

    private func limitFiles(to size: rlim_t) {
        // RLIM_INFINITY is the largest number (sys/resource.h).
        var value = rlimit(rlim_cur: size, rlim_max: .max)
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &value)
    }

    /// The names in the folder, and what is in the files to the byte.
    private func state() throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            files[name] = name == "filler" ? Data() : try Data(contentsOf: URL(filePath: folder + "/" + name))
        }
        return files
    }
}
