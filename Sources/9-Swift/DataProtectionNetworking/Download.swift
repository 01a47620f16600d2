import Bytes
import DataProtection
import Dispatch
import Foundation
import FoundationNetworking
import Synchronization

/// Puts what a data task receives into a protected file.
final class Download: NSObject, URLSessionDataDelegate, Sendable {
    fileprivate struct State {
        var continuation: CheckedContinuation<URLResponse, any Error>?
        /// Of a transfer that ended before anybody waited for it, as one that was canceled at once may.
        var early: Result<URLResponse, any Error>?
        var response: URLResponse?
        /// What ended the transfer, where the task's own error tells only that it was canceled.
        var failure: (any Error)?
        var received: Int64 = 0
        var isStarted = false
        var expected: Int64?
    }

    private let state = Mutex(State())
    private let writer: ProtectedFileWriter
    /// The delegate's queue of the transfer.
    private let queue: BoundedQueue
    /// The session whose delegate is asked.
    private let asked: URLSession
    private let progress: (@Sendable (Int64, Int64?) -> Void)?

    init(
        into writer: ProtectedFileWriter, for session: URLSession, on queue: BoundedQueue,
        _ progress: (@Sendable (Int64, Int64?) -> Void)?
    ) {
        self.writer = writer
        self.queue = queue
        asked = session
        self.progress = progress
    }

    /// - Parameter continuation: Resumed once the transfer ended.
    func start(_ task: URLSessionDataTask, _ continuation: CheckedContinuation<URLResponse, any Error>) {
        let early: Result<URLResponse, any Error>? = state.withLock { state in
            if let early = state.early { return early }
            if let failure = state.failure { return .failure(failure) }
            state.continuation = continuation
            state.isStarted = true
            return nil
        }
        if let early { return continuation.resume(with: early) }
        task.resume()
    }

    /// Ends the transfer, from any thread.
    func cancel(_ task: URLSessionTask) {
        let isStarted = state.withLock { state in
            if state.failure == nil { state.failure = URLError(.cancelled) }
            return state.isStarted
        }
        guard isStarted else { return task.cancel() }
        // Behind what is being written, so that nobody writes any more when the caller goes on.
        queue.addUnbounded { self.end(task, URLError(.cancelled)) }
    }

    /// Ends the transfer, on the delegate's queue. The waiting caller goes on at once.
    ///
    /// Foundation gets to cancel a task only when the connection has nothing to read for a moment. A server that sends
    /// faster than this program writes would keep it from that for ever. So what arrives from here on is thrown away as
    /// fast as it comes, and nobody waits. A task that has received everything completes by itself: Foundation crashes
    /// where a cancellation meets a completion.
    private func end(_ task: URLSessionTask, _ failure: any Error) {
        let isWhole = state.withLock { state in
            if state.failure == nil { state.failure = failure }
            return state.received == state.expected
        }
        if !isWhole { DispatchQueue.global().async { task.cancel() } }
        queue.endTransfer()
        finish(nil)
    }

    private func finish(_ error: (any Error)?) {
        let (continuation, outcome) = state.withLock { state in
            defer { state.continuation = nil }
            let outcome = state.outcome(error)
            if state.continuation == nil { state.early = outcome }
            return (state.continuation, outcome)
        }
        continuation?.resume(with: outcome)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if let status = (response as? HTTPURLResponse)?.statusCode, !(200...299).contains(status) {
            end(
                dataTask,
                URLError(
                    .badServerResponse,
                    userInfo: [NSLocalizedDescriptionKey: "the server answered with the status \(status)"]))
            return completionHandler(.cancel)
        }
        state.withLock { state in
            state.response = response
            // The length of an encoded body is not that of what arrives here.
            let isEncoded = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Content-Encoding") != nil
            let length = response.expectedContentLength
            state.expected = isEncoded || length < 0 ? nil : length
        }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isOver = state.withLock { state in
            if state.failure != nil { state.received += Int64(data.count) }
            return state.failure != nil || state.response == nil
        }
        guard !isOver else { return }
        do {
            try writer.write(contentsOf: data)
        } catch {
            return end(dataTask, error)
        }
        let (received, expected) = state.withLock { state in
            state.received += Int64(data.count)
            return (state.received, state.expected)
        }
        progress?(received, expected)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        finish(error)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard let delegate = asked.delegate as? any URLSessionTaskDelegate else { return completionHandler(request) }
        delegate.urlSession(
            asked, task: task, willPerformHTTPRedirection: response, newRequest: request,
            completionHandler: completionHandler)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let delegate = asked.delegate as? any URLSessionTaskDelegate else {
            return completionHandler(.performDefaultHandling, nil)
        }
        delegate.urlSession(asked, task: task, didReceive: challenge, completionHandler: completionHandler)
    }
}

extension Download.State {
    func outcome(_ error: (any Error)?) -> Result<URLResponse, any Error> {
        if let failure { return .failure(failure) }
        if let error { return .failure(error) }
        guard let response else { return .failure(URLError(.badServerResponse)) }
        if let expected, expected != received { return .failure(URLError(.networkConnectionLost)) }
        return .success(response)
    }
}
