import Foundation
import Glibc
import Testing

/// The real program, with a data folder of its own, in a process of its own.
final class ServerUnderTest: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Such as `https://localhost:40123`.
    let address: String
    let port: Int
    /// What a browser has to know to take the certificate; empty without TLS.
    let keyPin: String
    let folder: URL
    private let process: pid_t
    private let own: TemporaryFolder
    private var log: URL { own.url.appending(path: "log") }

    /// Starts it and waits until it serves.
    ///
    /// - Parameters:
    ///   - folder: Where it keeps what it keeps.
    ///   - avatars: Where pictures come from.
    ///   - options: More of its options.
    init(in folder: URL, avatars: String = "none", _ options: [String] = []) async throws {
        self.folder = folder
        own = try TemporaryFolder()
        let log = own.url.appending(path: "log")
        try Data().write(to: log)
        process = try Self.start(
            ["--data", folder.path(percentEncoded: false), "--port", "0", "--avatars", avatars] + options, log)
        var said = ""
        try await waitUntil("the server does not serve") { [process] in
            said = try String(contentsOf: log, encoding: .utf8)
            var status: Int32 = 0
            guard waitpid(process, &status, WNOHANG) == 0 else {
                throw Failure(description: "the server ended at once: \(said)")
            }
            return said.contains("What it keeps is in")
        }
        func word(after mark: String) -> String {
            said.range(of: mark).map { String(said[$0.upperBound...].prefix { !$0.isWhitespace }) } ?? ""
        }
        let whole = word(after: "Friendvatars is at ")
        address = String(whole.dropLast())
        port = address.split(separator: ":").last.flatMap { Int($0) } ?? 0
        keyPin = word(after: "Key pin: ")
    }

    /// Runs the program where it has nothing to serve, to its end.
    ///
    /// - Returns: Its exit status, and what it said.
    static func failing(_ arguments: [String], environment: [String: String] = [:]) async throws -> (Int32, String) {
        let folder = try TemporaryFolder()
        let log = folder.url.appending(path: "log")
        try Data().write(to: log)
        let process = try start(arguments, log, environment)
        let status = await onThread { TerminalProgram.wait(for: process) }
        return (status, try String(contentsOf: log, encoding: .utf8))
    }

    private static func start(
        _ arguments: [String], _ log: URL, _ variables: [String: String] = [:]
    ) throws -> pid_t {
        // Nothing of the person who runs the tests.
        let environment = ProcessInfo.processInfo.environment.filter {
            !$0.key.hasPrefix("KEYCHAIN_") && !$0.key.hasPrefix("FRIENDVATARS_")
        }.merging(variables) { $1 }
        return try ProgramStart.start("friendvatars", arguments, environment: environment) { actions in
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
            posix_spawn_file_actions_addopen(&actions, 1, log.path(percentEncoded: false), O_WRONLY | O_APPEND, 0)
            posix_spawn_file_actions_adddup2(&actions, 1, 2)
        }
    }

    /// All that it wrote to its output.
    var output: String { (try? String(contentsOf: log, encoding: .utf8)) ?? "" }

    /// Whether it is still there.
    var isRunning: Bool { kill(process, 0) == 0 }

    /// Ends it as a system does that shuts down, or at once; waits until it is gone.
    ///
    /// - Returns: Its exit status; 128 and the signal if it died of one.
    @discardableResult
    func stop(_ signal: Int32 = SIGTERM) async -> Int32 {
        kill(process, signal)
        var status: Int32 = 0
        do {
            try await waitUntil("the server does not end") { waitpid(process, &status, WNOHANG) != 0 }
        } catch {
            kill(process, SIGKILL)
            waitpid(process, &status, 0)
        }
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
    }

    /// How many sockets it has open.
    var sockets: Int {
        let folder = "/proc/\(process)/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.count {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)"))?.hasPrefix("socket:")
                == true
        }
    }

    /// The memory that it takes now, in bytes.
    var memory: Int {
        let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
        return (line.split(separator: " ").compactMap { Int($0) }.first ?? 0) << 10
    }
}

/// Runs `body` with a server, which is ended afterwards whatever happens.
func withServer<Result>(
    avatars: String = "none", options: [String] = [], _ body: (ServerUnderTest) async throws -> Result
) async throws -> Result {
    let folder = try TemporaryFolder()
    let server = try await ServerUnderTest(in: folder.url.appending(path: "data"), avatars: avatars, options)
    do {
        let result = try await body(server)
        await server.stop()
        return result
    } catch {
        print("the server said: \(server.output)")
        await server.stop()
        throw error
    }
}
