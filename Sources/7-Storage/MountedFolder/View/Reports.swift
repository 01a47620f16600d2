import Synchronization

/// Messages for a person that no program gets.
final class Reports: Sendable {
    private let write: @Sendable (String) -> Void
    private let told = Mutex<Set<String>>([])

    init(_ write: @escaping @Sendable (String) -> Void) { self.write = write }

    /// Writes a message once.
    func once(_ text: String) {
        let isNew = told.withLock { told in
            // A thousand foreign files must not cause a thousand lines.
            told.count < 100 && told.insert(text).inserted
        }
        if isNew { write(text) }
    }
}
