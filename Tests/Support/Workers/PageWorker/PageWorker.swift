import DatabasePages
import Foundation
import Glibc
import KeychainModel
import TestSupport

/// What tests of the page index run as another process. Reports on standard output.
@main struct PageWorker {
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count >= 3, let number = UInt64(arguments[2]) else { exit(64) }
        do {
            switch arguments[0] {
            case "change": try change(arguments[1], seed: number)
            case "share": try share(arguments[1], part: UInt32(number))
            case "scarce": try scarce(arguments[1])
            case "mode": try create(arguments[1], mode: mode_t(number))
            default: exit(64)
            }
        } catch {
            emit("error \(error)\n")
            exit(1)
        }
    }

    private static func emit(_ text: String) {
        let bytes = Array(text.utf8)
        guard write(1, bytes, bytes.count) == bytes.count else { exit(65) }
    }

    /// Changes an index without end; prints one character after each change that has returned.
    private static func change(_ path: String, seed: UInt64) throws {
        let index = try PageIndex.open(path, database: .ofTests, key: .ofTests())
        var script = PageScript(seed: seed, from: index.state)
        emit("ready\n")
        for turn in 1... {
            try index.perform(script.next(), durably: turn % 8 == 0)
            emit(".")
        }
    }

    /// Changes the pages whose number has the remainder `part` when divided by 4, and one more for each change.
    private static func share(_ path: String, part: UInt32) throws {
        let index = try PageIndex.open(path, database: .ofTests, key: .ofTests())
        emit("ready\n")
        _ = Glibc.getchar()
        for turn in 0..<UInt32(300) {
            let page = 4 * (turn % 100) + 4 + part
            try index.set(PageVersion(rawValue: UInt64(turn) << 8 | (UInt64(part) + 1)), of: page)
            try index.flush(pageCount: nil, durably: false)
            guard index.version(of: page)?.rawValue == UInt64(turn) << 8 | (UInt64(part) + 1) else {
                return emit("lost\n")
            }
        }
        emit("done\n")
    }

    /// Makes an index for more users than the umask allows, and changes it until it has been replaced by smaller ones.
    private static func create(_ path: String, mode: mode_t) throws {
        umask(0o077)
        let index = try PageIndex.create(path, database: .ofTests, key: .ofTests(), mode: mode)
        for version in UInt64(1)...2_000 {
            try index.set(PageVersion(rawValue: version), of: 1)
            try index.flush(pageCount: nil, durably: false)
        }
        emit("\(index.sequence)\n")
    }

    /// Fills the disk and goes on; what was noted has its room, the rest is refused.
    private static func scarce(_ folder: String) throws {
        let path = folder + "/index"
        let index = try PageIndex.create(path, database: .ofTests, key: .ofTests())
        try index.set(PageVersion(rawValue: 1), of: 1)
        let filler = open(folder + "/filler", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        let zeros = [UInt8](repeating: 0, count: 4096)
        while write(filler, zeros, zeros.count) > 0 {}
        emit("errno \(errno == ENOSPC ? "no space" : "\(errno)")\n")
        var noted: UInt32 = 1
        do throws(PageIndexError) {
            for page in UInt32(2)...1_000_000 {
                try index.set(PageVersion(rawValue: UInt64(page)), of: page)
                noted = page
            }
        } catch {
            emit(error == .diskFull(path: path) ? "refused\n" : "\(error)\n")
        }
        try index.flush(pageCount: nil, durably: true)
        let other = try PageIndex.open(path, database: .ofTests, key: .ofTests())
        let isWhole = (1...noted).allSatisfy { other.version(of: $0)?.rawValue == UInt64($0) }
        emit(isWhole && other.pageCount == noted && noted > 100 ? "whole\n" : "lost after \(noted)\n")
        close(filler)
        unlink(folder + "/filler")
        try index.set(PageVersion(rawValue: 9), of: noted + 1)
        try index.flush(pageCount: nil, durably: true)
        try other.refresh()
        emit(other.version(of: noted + 1)?.rawValue == 9 ? "goes on\n" : "stuck\n")
    }
}
