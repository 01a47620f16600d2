import CLibrary
import Logging
import ServiceLifecycle

/// Writes the metrics into a file, for a collector that reads it: every ten seconds, and at the end.
package struct MetricsFile: Service {
    let registry: MetricsRegistry
    let state: VaultMetrics
    let path: String
    let logger: Logger

    package func run() async throws {
        var failure: Int32 = 0
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            note(write(), &failure)
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: .seconds(10)) }
        }
        note(write(), &failure)
    }

    private func note(_ code: Int32, _ last: inout Int32) {
        if code != 0, code != last {
            logger.error("metrics not written", metadata: ["reason": "\(String(cString: strerror(code)))"])
        }
        last = code
    }

    private func write() -> Int32 {
        state.record()
        return Self.replace(path, with: registry.text)
    }

    /// Replaces a file of figures as a whole. Everybody may read it: it names operations, but no caller and no item.
    ///
    /// - Returns: 0, or the system's error.
    package static func replace(_ path: String, with text: String) -> Int32 {
        let temporary = path + ".new"
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        fchmod(descriptor, 0o644)
        let isWritten = Array(text.utf8).withUnsafeBytes { SystemCall.writeAll($0, to: descriptor) }
        guard isWritten else { return errno }
        return rename(temporary, path) == 0 ? 0 : errno
    }
}
