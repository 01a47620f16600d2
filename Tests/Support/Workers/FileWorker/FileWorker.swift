import Foundation
import Glibc
import KeychainModel
import ProtectedFiles
import TestSupport

/// What tests of protected files run as another process. Reports on standard output.
@main struct FileWorker {
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count >= 3, let number = UInt64(arguments[2]) else { exit(64) }
        do {
            switch arguments[0] {
            case "change": try change(arguments[1], seed: number)
            case "replace": try replace(arguments[1], count: number)
            case "fill": try fill(arguments[1], count: Int(number))
            case "protect": try FileConversion(keys: MemoryFileKeys()).protect(arguments[1], .complete)
            case "unprotect": try FileConversion(keys: MemoryFileKeys()).unprotect(arguments[1])
            case "renew": try FileConversion(keys: MemoryFileKeys()).renewKey(arguments[1])
            case "renew-again": try renewAgain(arguments[1])
            case "convert": try convert(arguments[1])
            case "append": try append(arguments[1], seed: number)
            case "class": try changeClass(arguments[1])
            case "rewrap": try rewrap(arguments[1], after: number)
            case "room": try convertWithoutRoom(arguments[1], count: Int(number))
            case "scarce": try Scarcity(arguments[1], limit: number).run(emit)
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

    /// Changes a file without end; prints one character after each change that has returned.
    private static func change(_ path: String, seed: UInt64) throws {
        let keys = MemoryFileKeys()
        let file = try SealedFile(path, .writing, keys: keys)
        let length = try file.length
        var script = FileScript(seed: seed, data: try file.read(Int(length), at: 0), limit: 3 << 20)
        emit("ready\n")
        while true {
            try file.perform(script.next(), keys: keys)
            emit(".")
        }
    }

    /// Replaces a file again and again by one that has the number of the turn in every byte.
    private static func replace(_ path: String, count: UInt64) throws {
        let keys = MemoryFileKeys()
        for turn in 1... {
            let writer = try SealedFileWriter(path, .complete, keys: keys, durability: .process)
            try writer.write(Data(repeating: UInt8(truncatingIfNeeded: turn), count: Int(count)))
            try writer.finish(replacing: true)
            emit(".")
        }
    }

    /// Converts files of `count` bytes and of one chunk both ways, and says how each ended and of how many bytes
    /// progress was made.
    private static func convertWithoutRoom(_ folder: String, count: Int) throws {
        let conversion = FileConversion(keys: MemoryFileKeys())
        func report(_ name: String, _ body: ((UInt64) -> Void) throws(SealedFileError) -> Void) {
            var bytes: UInt64 = 0
            do throws(SealedFileError) {
                try body { bytes += $0 }
                emit("\(name) done \(bytes)\n")
            } catch {
                guard case .diskFull = error else { return emit("\(name) \(error)\n") }
                emit("\(name) full \(bytes)\n")
            }
        }
        for size in [count, 65_536] {
            let path = "\(folder)/\(size)"
            let data = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 / 1000) })
            try data.write(to: URL(filePath: path))
            report("protect") { (progress) throws(SealedFileError) in
                try conversion.protect(path, .complete, progress: progress)
            }
            guard unlink(path) == 0 else { exit(65) }
            try seal(data, path)
            report("unprotect") { (progress) throws(SealedFileError) in
                try conversion.unprotect(path, progress: progress)
            }
            guard unlink(path) == 0 else { exit(65) }
        }
    }

    private static func seal(_ data: Data, _ path: String) throws {
        let writer = try SealedFileWriter(path, .complete, keys: MemoryFileKeys())
        try writer.write(data)
        try writer.finish(replacing: false)
    }

    /// Protects a file and makes it plain again, without end.
    private static func convert(_ path: String) throws {
        let conversion = FileConversion(keys: MemoryFileKeys())
        emit("ready\n")
        while true {
            try conversion.protect(path, .complete)
            emit(".")
            try conversion.unprotect(path)
            emit(".")
        }
    }

    /// Seals the data of a file under a new key without end, each time in the next class.
    private static func renewAgain(_ path: String) throws {
        let conversion = FileConversion(keys: MemoryFileKeys())
        let classes = FileProtectionClass.allCases
        emit("ready\n")
        while true {
            let present = try Int(SealedFileInfo(path).fileClass.rawValue)
            try conversion.renewKey(path, movingTo: classes[present % classes.count])
            emit(".")
        }
    }

    /// Adds to a file without end, opening it anew now and then. What is added has its number in every byte.
    private static func append(_ path: String, seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        emit("ready\n")
        var number: UInt8 = 0
        while true {
            let file = try SealedFile(path, .writing, keys: MemoryFileKeys())
            for _ in 0...random.int(below: 8) {
                number &+= 1
                try file.append(Data(repeating: number, count: 1 + random.int(below: 200_000)))
                emit(".")
            }
            file.close()
        }
    }

    /// Moves a file to the next class without end.
    private static func changeClass(_ path: String) throws {
        let keys = MemoryFileKeys()
        let file = try SealedFile(path, .writing, keys: keys)
        let classes = FileProtectionClass.allCases
        emit("ready\n")
        while true {
            let next = try classes[Int(file.fileClass.rawValue) % classes.count]
            try file.changeClass(to: next, keys: keys)
            emit(".")
        }
    }

    /// Wraps the key of a file anew without end, each time under the keys of the next generation.
    private static func rewrap(_ path: String, after generation: UInt64) throws {
        emit("ready\n")
        for generation in (generation + 1)... {
            let keys = MemoryFileKeys(generation: generation)
            let file = try SealedFile(path, .writing, keys: keys)
            guard try file.rewrapKey(keys: keys) else { exit(66) }
            file.close()
            emit(".")
        }
    }

    /// Makes a file and fills the disk with it, in turn in place, at the end, and with another file.
    private static func fill(_ path: String, count: Int) throws {
        let keys = MemoryFileKeys()
        let old = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 / 1000) })
        let writer = try SealedFileWriter(path, .complete, keys: keys)
        try writer.write(old)
        try writer.finish(replacing: false)
        let file = try SealedFile(path, .writing, keys: keys)
        var data = old
        let attempts: [(String, () throws -> Void)] = [
            (
                "append",
                {
                    while true {
                        try file.append(Data(repeating: 1, count: 50_000))
                        data.append(Data(repeating: 1, count: 50_000))
                    }
                }
            ),
            ("overwrite", { try file.write(Data(repeating: 2, count: 400_000), at: 0) }),
            (
                "replace",
                {
                    let writer = try SealedFileWriter(path, .complete, keys: keys)
                    try writer.write(Data(repeating: 3, count: 2 << 20))
                    try writer.finish(replacing: true)
                }
            ),
        ]
        for (name, attempt) in attempts {
            do {
                try attempt()
                emit("\(name) done\n")
            } catch SealedFileError.diskFull(path: _) {
                emit("\(name) full\n")
            }
            let opened = try SealedFile(path, .reading, keys: keys)
            let isWhole = try opened.read(Int(opened.length), at: 0) == data
            emit("\(name) \(isWhole ? "kept" : "lost")\n")
        }
        try file.truncate(to: 10)
        emit(try file.read(100, at: 0) == old.prefix(10) ? "shortened\n" : "lost\n")
    }
}
