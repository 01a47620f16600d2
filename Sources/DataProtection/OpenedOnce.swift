import Synchronization

/// The handle that an iterator reads from, opened when it is first needed.
final class OpenedOnce: Sendable {
    private let kept = Mutex<ProtectedFileHandle?>(nil)

    func handle(of source: ProtectedFileChunks.Source) throws(ProtectedFileError) -> ProtectedFileHandle {
        switch source {
        case .handle(let handle): return handle
        case .file(let file):
            return try kept.withLock { kept throws(ProtectedFileError) in
                if let kept { return kept }
                let opened = try ProtectedFileHandle(forReadingFrom: file.url)
                kept = opened
                return opened
            }
        }
    }
}
