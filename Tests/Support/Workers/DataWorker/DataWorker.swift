import DataProtection
import DataProtectionNetworking
import Foundation
import FoundationNetworking
import Glibc

/// What tests of Data Protection run as another process. Reports on standard output.
@main struct DataWorker {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard let command = arguments.first else { exit(64) }
        do {
            switch (command, arguments.dropFirst().first) {
            case ("events", _): try await events()
            case ("hold", let path?): try hold(path)
            case ("chunks", let path?): try await chunks(path)
            case ("write", let path?): try write(path, megabytes: Int(arguments[2]) ?? 0)
            case ("download", let path?): try await download(path, from: arguments[2])
            default: exit(64)
            }
        } catch {
            emit("error \((error as? ProtectedFileError)?.code.description ?? "\(error)")")
            exit(1)
        }
    }

    private static func emit(_ text: String) {
        let bytes = Array((text + "\n").utf8)
        guard Glibc.write(1, bytes, bytes.count) == bytes.count else { exit(65) }
    }

    /// The most memory the process has had in use, in KiB.
    private static var peak: Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
        return line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    }

    private static func events() async throws {
        for await event in try ProtectedData.events() {
            emit("\(event) \(ProtectedData.isProtectedDataAvailable)")
        }
    }

    /// Opens a file, and at each line of input says what reading and writing it, and opening it anew, give.
    private static func hold(_ path: String) throws {
        let url = URL(filePath: path)
        let handle = try ProtectedFileHandle(forUpdating: url)
        func outcome(_ body: () throws -> Void) -> String {
            do {
                try body()
                return "ok"
            } catch {
                return (error as? ProtectedFileError)?.code.description ?? "\(error)"
            }
        }
        emit("open")
        while readLine() != nil {
            let read = outcome { _ = try handle.read(upToCount: 4, at: 0) }
            let written = outcome { try handle.append(contentsOf: Data("+".utf8)) }
            let opened = outcome {
                _ = try ProtectedFileHandle(forReadingFrom: url).read(upToCount: 4)
            }
            emit("\(read) \(written) \(opened)")
        }
    }

    private static func chunks(_ path: String) async throws {
        var (total, before) = (0, 0)
        for try await piece in ProtectedFile(path: path).chunks() {
            total += piece.count
            if before == 0 { before = peak }
        }
        emit("\(total) \(peak - before)")
    }

    private static func write(_ path: String, megabytes: Int) throws {
        let writer = try ProtectedFileWriter(ProtectedFile(path: path), protection: FileProtectionType.none)
        let piece = Data(repeating: 0x5A, count: 1 << 20)
        var before = 0
        for _ in 0..<megabytes {
            try writer.write(contentsOf: piece)
            if before == 0 { before = peak }
        }
        try writer.finish()
        emit("\(megabytes << 20) \(peak - before)")
    }

    private static func download(_ path: String, from address: String) async throws {
        guard let url = URL(string: address) else { exit(64) }
        let file = ProtectedFile(path: path)
        // Everything is loaded once something was downloaded.
        try await URLSession.shared.download(from: url.deletingLastPathComponent().appending(path: "small"), to: file)
        let before = peak
        try await URLSession.shared.download(from: url, to: file)
        emit("\(try file.info()?.size ?? 0) \(peak - before)")
    }
}
