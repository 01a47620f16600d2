import Foundation
import KeyCryptography
import KeychainServices
import ProcessVault
import StoredKeys
import VaultInterface
import VaultKeys

/// Takes a value or why there is none.
typealias Answer<Value> = @Sendable (Value?, (any Error)?) -> Void

/// Runs `work` on the vault of the calling task, where it may wait for the vault, and answers with its outcome.
func answer<Value: Sendable>(
    _ completion: @escaping Answer<Value>, _ work: @escaping @Sendable (VaultSession) throws -> Value
) {
    let session = Result { () throws(VaultError) in try VaultSession.current() }
    LAContext.queue.async {
        answer(completion, Result { try work(session.get()) })
    }
}

/// Answers with an outcome, in errors that a program gets to see.
func answer<Value: Sendable>(_ completion: Answer<Value>, _ outcome: Result<Value, some Error>) {
    switch outcome {
    case .success(let value): completion(value, nil)
    case .failure(let error): completion(nil, publicError(error))
    }
}

/// Waits for the answer of `call` without keeping a thread.
func value<Value: Sendable>(of call: (@escaping Answer<Value>) -> Void) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        call { value, error in
            if let value, error == nil {
                continuation.resume(returning: value)
            } else {
                continuation.resume(throwing: error ?? LAError(.systemCancel))
            }
        }
    }
}

/// Waits for the outcome of `call` without keeping a thread.
func outcome(of call: (@escaping @Sendable ((any Error)?) -> Void) -> Void) async throws {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        call { error in
            if let error { continuation.resume(throwing: error) } else { continuation.resume() }
        }
    }
}

/// What a program gets to see: an ``LAError`` for what the vault or a person refused, and the error of the functions of
/// `SecKey` for an operation that a key does not do.
private func publicError(_ error: any Error) -> any Error {
    switch error {
    case let error as VaultError: LAError(error)
    case let error as StoredKeyError: LAError(error)
    case KeyError.refused(let cause as VaultError): LAError(cause)
    case let error as KeyError: securityError(error.osStatus, error.description)
    default: error
    }
}

extension LAError {
    /// The meaning of an error of a stored key, in its words.
    init(_ error: StoredKeyError) {
        let code: Code =
            switch error {
            case .locked: .notInteractive
            case .notAuthenticated: .authenticationFailed
            case .canceled: .userCancel
            case .vault(let error): LAError(error).code
            case .accessDenied, .damaged, .memoryUnavailable: .systemCancel
            }
        self.init(code, saying: error.description)
    }
}
