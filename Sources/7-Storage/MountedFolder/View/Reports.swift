import Synchronization

/// What a person should know and no program is told.
final class Reports: Sendable {
    private let write: @Sendable (String) -> Void
    private let told = Mutex<Set<String>>([])

    init(_ write: @escaping @Sendable (String) -> Void) { self.write = write }

    /// Says it, unless it was said before.
    func once(_ text: String) {
        let isNew = told.withLock { told in
            // Whoever makes a thousand foreign files gets no thousand lines.
            told.count < 100 && told.insert(text).inserted
        }
        if isNew { write(text) }
    }
}
