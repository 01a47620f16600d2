import DataProtection
import Foundation
import FoundationNetworking

extension URLSession {
    /// Downloads straight into a protected file: what arrives is encrypted before it is written, and never on the disk
    /// in plain form.
    ///
    /// ```swift
    /// let file = ProtectedFile(folder.appending(path: "report.pdf"))
    /// try await URLSession.shared.download(from: url, to: file, protection: .complete)
    /// ```
    ///
    /// The file has its name once all of it has arrived and is on the disk; until then, and after any failure, the name
    /// leads to what it led to before. The transfer runs in a session of its own with this one's configuration;
    /// redirections and challenges are put to this one's delegate. Memory does not grow with the file: a server waits
    /// for a slow disk.
    ///
    /// - Parameters:
    ///   - request: What to ask for.
    ///   - file: Where to put it; a file that is there is replaced.
    ///   - protection: Its class; nil as for `ProtectedFileWriter`.
    ///   - progress: Called as data arrive, with the bytes so far and, if the server told, those there will be.
    /// - Returns: The server's response.
    /// - Throws: `URLError` for what failed on the way, which is `badServerResponse` for an HTTP status other than 200
    ///   to 299 and `cancelled` for a task that was canceled; `ProtectedFileError` for what failed here, such as
    ///   `ProtectedFileError.Code.locked` when the vault is locked before a file of class `complete` is there.
    @discardableResult
    public func download(
        for request: URLRequest, to file: ProtectedFile, protection: FileProtectionType? = nil,
        progress: (@Sendable (_ received: Int64, _ expected: Int64?) -> Void)? = nil
    ) async throws -> URLResponse {
        let writer = try ProtectedFileWriter(file, protection: protection)
        let queue = BoundedQueue()
        let download = Download(into: writer, for: self, on: queue, progress)
        let session = URLSession(configuration: configuration, delegate: download, delegateQueue: queue)
        let task = session.dataTask(with: request)
        session.finishTasksAndInvalidate()
        let response: URLResponse
        do {
            response = try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { download.start(task, $0) }
            } onCancel: {
                download.cancel(task)
            }
        } catch {
            writer.cancel()
            throw error
        }
        try writer.finish()
        return response
    }

    /// Downloads straight into a protected file; see ``download(for:to:protection:progress:)``.
    @discardableResult
    public func download(
        from url: URL, to file: ProtectedFile, protection: FileProtectionType? = nil,
        progress: (@Sendable (_ received: Int64, _ expected: Int64?) -> Void)? = nil
    ) async throws -> URLResponse {
        try await download(for: URLRequest(url: url), to: file, protection: protection, progress: progress)
    }
}
