import Foundation
import Glibc
import Synchronization

/// A real Chromium without a window, spoken to in the DevTools protocol through a pipe
/// (chromedevtools.github.io/devtools-protocol).
actor Browser {
    /// What a command or a page did not do.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Something that happened in a page.
    struct Event: Sendable {
        let method: String
        let session: String?
        let parameters: JSON
    }

    private let process = Process()
    private let folder: TemporaryFolder
    private let commands = Pipe()
    private var number = 0
    private var waiting: [Int: CheckedContinuation<JSON, any Error>] = [:]
    private var listeners: [String: @Sendable (Event) -> Void] = [:]

    /// Starts one with a profile of its own.
    ///
    /// - Parameter pin: SHA-256 of the public key of a server whose certificate it takes, though nobody known has
    ///   signed it.
    init(trusting pin: String) async throws {
        folder = try TemporaryFolder()
        let answers = Pipe()
        process.executableURL = URL(filePath: "/bin/sh")
        // Descriptors 3 and 4 are the pipe. Root has no sandbox; the pages are our own.
        process.arguments = [
            "-c",
            """
            exec chromium --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
            --disable-background-networking --disable-component-update --disable-sync --hide-scrollbars \
            --force-color-profile=srgb --remote-debugging-pipe --user-data-dir="$1" \
            --ignore-certificate-errors-spki-list="$2" 3<&0 4>&1 </dev/null >/dev/null 2>&1
            """,
            "browser", folder.url.appending(path: "profile").path(percentEncoded: false), pin,
        ]
        // Its folder of temporary files goes with it, too.
        process.environment = ProcessInfo.processInfo.environment.merging(
            ["TMPDIR": folder.url.path(percentEncoded: false)]) { $1 }
        process.standardInput = commands
        process.standardOutput = answers
        try process.run()
        try TestWatcher.end(process.processIdentifier)
        let (messages, sink) = AsyncStream.makeStream(of: Data.self)
        // A thread of its own: reading from a pipe blocks.
        Thread.detachNewThread {
            var rest = Data()
            while true {
                let read = answers.fileHandleForReading.availableData
                if read.isEmpty { break }
                rest += read
                while let end = rest.firstIndex(of: 0) {
                    sink.yield(Data(rest[..<end]))
                    rest = Data(rest[(end + 1)...])
                }
            }
            sink.finish()
        }
        Task { [weak self] in
            for await message in messages { await self?.take(message) }
            await self?.failAll()
        }
        do {
            _ = try await call("Browser.getVersion")
        } catch {
            close()
            throw error
        }
    }

    /// Ends it, and its helper processes, which would go on to write into the folder.
    func close() {
        process.terminate()
        let number = process.processIdentifier
        let late = DispatchWorkItem { kill(number, SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(60), execute: late)
        process.waitUntilExit()
        late.cancel()
        while true {
            let helpers = Self.processes(ofGroup: number, orOf: folder.url.path(percentEncoded: false))
            if helpers.isEmpty { return }
            for helper in helpers { kill(helper, SIGKILL) }
            usleep(2_000)
        }
    }

    /// The processes of a group, and those with `path` in their command line; none that has ended.
    private static func processes(ofGroup group: pid_t, orOf path: String) -> [pid_t] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { pid_t($0) }.filter { number in
            // The name in parentheses may contain anything; state, parent and group follow it (proc_pid_stat(5)).
            guard let text = try? String(contentsOfFile: "/proc/\(number)/stat", encoding: .utf8),
                let fields = text.split(separator: ")").last?.split(separator: " "), fields.count > 2,
                fields[0] != "Z", fields[0] != "X"
            else { return false }
            let words = (try? Data(contentsOf: URL(filePath: "/proc/\(number)/cmdline"))) ?? Data()
            return pid_t(fields[2]) == group || String(decoding: words, as: UTF8.self).contains(path)
        }
    }

    /// Says a command and waits for its answer.
    func call(_ method: String, _ parameters: JSON = [:], session: String? = nil) async throws -> JSON {
        number += 1
        let id = number
        var message: [String: JSON] = ["id": .number(Double(id)), "method": .string(method), "params": parameters]
        message["sessionId"] = session.map { .string($0) }
        let bytes = try JSONEncoder().encode(JSON.object(message)) + [0]
        return try await withCheckedThrowingContinuation { continuation in
            waiting[id] = continuation
            Task { [weak self] in
                try? await Task.sleep(for: patience)
                await self?.giveUp(id, method)
            }
            do {
                try commands.fileHandleForWriting.write(contentsOf: bytes)
            } catch {
                waiting.removeValue(forKey: id)?.resume(throwing: error)
            }
        }
    }

    /// Hears of what happens in a page.
    func listen(to session: String, _ body: @escaping @Sendable (Event) -> Void) {
        listeners[session] = body
    }

    private func take(_ message: Data) {
        guard let json = try? JSONDecoder().decode(JSON.self, from: message) else { return }
        if let id = json["id"].number, let continuation = waiting.removeValue(forKey: Int(id)) {
            if case .object = json["error"] {
                continuation.resume(throwing: Failure(description: json["error"]["message"].string ?? "no reason"))
            } else {
                continuation.resume(returning: json["result"])
            }
        } else if let method = json["method"].string {
            let session = json["sessionId"].string
            session.flatMap { listeners[$0] }?(Event(method: method, session: session, parameters: json["params"]))
        }
    }

    /// Fails a command that has no answer yet.
    private func giveUp(_ id: Int, _ method: String) {
        waiting.removeValue(forKey: id)?.resume(throwing: Failure(description: "no answer to \(method)"))
    }

    private func failAll() {
        for continuation in waiting.values { continuation.resume(throwing: Failure(description: "the browser ended")) }
        waiting = [:]
    }
}
