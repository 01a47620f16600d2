import Foundation
import Glibc

/// A real TPM 2.0 in software (swtpm) in a folder of its own, on sockets that nobody else knows.
///
/// It keeps its state over restarts, as hardware does.
package final class SoftwareTPM: Sendable {
    private let folder: TemporaryFolder

    /// What `KEYCHAIN_TPM` takes to find it.
    package var address: String { "swtpm:path=\(socket)" }

    private var socket: String { folder.path(of: "tpm") }
    // The library that speaks to swtpm expects this name.
    private var controlSocket: String { socket + ".ctrl" }
    private var processFile: String { folder.path(of: "pid") }

    package init() throws {
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: folder.path(of: "state"), withIntermediateDirectories: false)
        try start()
    }

    deinit {
        kill()
    }

    /// Turns the power on. The TPM answers when this returns.
    package func start() throws {
        try Self.run(
            "swtpm",
            [
                "socket", "--tpm2", "--tpmstate", "dir=\(folder.path(of: "state"))",
                "--server", "type=unixio,path=\(socket)", "--ctrl", "type=unixio,path=\(controlSocket)",
                "--flags", "not-need-init,startup-clear", "--pid", "file=\(processFile)", "--daemon",
            ], waitsForOutput: false)
    }

    /// Takes the power away, as a crash of the machine does.
    package func kill() {
        guard let text = try? String(contentsOfFile: processFile, encoding: .utf8),
            let process = pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines))
        else { return }
        Glibc.kill(process, SIGKILL)
        // It is no child of this process, so that there is nothing to wait for but its end.
        while Glibc.kill(process, 0) == 0 { usleep(1000) }
        for name in [processFile, socket, controlSocket] { unlink(name) }
    }

    package func restart() throws {
        kill()
        try start()
    }

    /// Runs a program of tpm2-tools on it.
    ///
    /// - Returns: What it prints.
    @discardableResult
    package func tool(_ name: String, _ arguments: String...) throws -> String {
        try Self.run(name, arguments, environment: ["TPM2TOOLS_TCTI": address, "TSS2_LOG": "all+none"])
    }

    /// The handles of transient objects and of loaded sessions.
    package func loadedHandles() throws -> [String] {
        try ["handles-transient", "handles-loaded-session"].flatMap {
            try tool("tpm2_getcap", $0).split(separator: "\n").map(String.init)
        }
    }

    package func path(of name: String) -> String { folder.path(of: name) }

    @discardableResult
    private static func run(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], waitsForOutput: Bool = true
    ) throws -> String {
        // Not with Foundation's Process, which waits for what goes on in the background too.
        let variables = environment.map { "\($0.key)=\($0.value)" }
        let process = try Worker(
            ["-c", "exec 2>&1; exec \"$@\"", "sh", "env"] + variables + [program] + arguments, command: "/bin/sh")
        let text = waitsForOutput ? String(decoding: process.readToEnd(), as: UTF8.self) : ""
        let status = process.wait()
        guard status == 0 else { throw SoftwareTPMError(program: program, status: status, output: text) }
        return text
    }
}

package struct SoftwareTPMError: Error, CustomStringConvertible {
    package var program: String
    package var status: Int32
    package var output: String

    package var description: String {
        // env(1) ends with 127 when there is no such program.
        status == 127
            ? "\(program) is not installed; run Scripts/setup.sh --tests"
            : "\(program) ended with \(status): \(output)"
    }
}
