import Foundation
import Glibc
import Synchronization
import Testing

/// A real TPM 2.0 in software (swtpm), in a new folder and on sockets that nobody else knows.
///
/// Keeps its state over restarts, like hardware.
package final class SoftwareTPM: Sendable {
    private let folder: TemporaryFolder
    private let process = Mutex<Worker?>(nil)

    /// The value of `KEYCHAIN_TPM` for this TPM.
    package var address: String { "swtpm:path=\(socket)" }

    private var socket: String { folder.path(of: "tpm") }
    // The library that connects to swtpm expects this name.
    private var controlSocket: String { socket + ".ctrl" }

    package init() throws {
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: folder.path(of: "state"), withIntermediateDirectories: false)
        try start()
    }

    /// Turns the power on. The TPM answers when this returns.
    package func start() throws {
        try process.withLock { process in
            let arguments = [
                "-c", "exec 2>> '\(folder.path(of: "log"))'; exec \"$@\"", "sh", "env", "swtpm", "socket", "--tpm2",
                "--tpmstate", "dir=\(folder.path(of: "state"))",
                "--server", "type=unixio,path=\(socket)", "--ctrl", "type=unixio,path=\(controlSocket)",
                "--flags", "not-need-init,startup-clear",
            ]
            let started = try Worker(arguments, command: "/bin/sh")
            process = started
            try eventually("swtpm listens") {
                if let status = started.endedWith() {
                    let log = try? String(contentsOfFile: folder.path(of: "log"), encoding: .utf8)
                    throw SoftwareTPMError(program: "swtpm", status: status, output: log ?? "")
                }
                return listens(socket) && listens(controlSocket)
            }
        }
    }

    private func listens(_ path: String) -> Bool {
        let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }

    /// Turns the power off, as in a crash of the machine.
    package func kill() {
        process.withLock { process in
            process?.kill()
            process?.wait()
            process = nil
        }
        unlink(socket)
        unlink(controlSocket)
    }

    package func restart() throws {
        kill()
        try start()
    }

    /// Runs a program of tpm2-tools with this TPM.
    ///
    /// - Returns: The output of the program.
    @discardableResult
    package func tool(_ name: String, _ arguments: String...) throws -> String {
        try Self.run(name, arguments, environment: ["TPM2TOOLS_TCTI": address, "TSS2_LOG": "all+none"])
    }

    /// Returns the handles of transient objects and of loaded sessions.
    package func loadedHandles() throws -> [String] {
        try ["handles-transient", "handles-loaded-session"].flatMap {
            try tool("tpm2_getcap", $0).split(separator: "\n").map(String.init)
        }
    }

    package func path(of name: String) -> String { folder.path(of: name) }

    @discardableResult
    private static func run(
        _ program: String, _ arguments: [String], environment: [String: String] = [:]
    ) throws -> String {
        let variables = environment.map { "\($0.key)=\($0.value)" }
        let process = try Worker(
            ["-c", "exec 2>&1; exec \"$@\"", "sh", "env"] + variables + [program] + arguments, command: "/bin/sh")
        let text = String(decoding: process.readToEnd(), as: UTF8.self)
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
        // env(1) ends with 127 if the program does not exist.
        status == 127
            ? "\(program) is not installed; run Scripts/install/setup.sh --tests"
            : "\(program) ended with \(status): \(output)"
    }
}
