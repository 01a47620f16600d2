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
        var expected: Int64?
    }

    private let state = Mutex(State())
    private let writer: ProtectedFileWriter
    /// Whose delegate is asked.
    private let asked: URLSession
    private let progress: (@Sendable (Int64, Int64?) -> Void)?

    init(
        into writer: ProtectedFileWriter, for session: URLSession,
        _ progress: (@Sendable (Int64, Int64?) -> Void)?
    ) {
        self.writer = writer
        asked = session
        self.progress = progress
    }

    /// - Parameter continuation: Resumed once the transfer ended.
    func start(_ task: URLSessionDataTask, _ continuation: CheckedContinuation<URLResponse, any Error>) {
        let early = state.withLock { state in
            if state.early == nil { state.continuation = continuation }
            return state.early
        }
        if let early { return continuation.resume(with: early) }
        task.resume()
    }

    private func end(_ task: URLSessionTask, _ failure: any Error) {
        state.withLock { if $0.failure == nil { $0.failure = failure } }
        // Not here: Foundation waits for the thread that hands over what arrives, which may wait for this queue.
        DispatchQueue.global().async { task.cancel() }
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
        let isOver = state.withLock { $0.failure != nil || $0.response == nil }
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
        let (continuation, outcome) = state.withLock { state in
            defer { state.continuation = nil }
            let outcome = state.outcome(error)
            if state.continuation == nil { state.early = outcome }
            return (state.continuation, outcome)
        }
        continuation?.resume(with: outcome)
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
