import Glibc

/// Threads that nobody waits for; they end with what they run.
package enum DetachedThread {
    // Looked up, because the header shows it to programs alone that ask for GNU's extensions.
    private typealias SetName = @convention(c) (pthread_t, UnsafePointer<CChar>) -> Int32
    private static let setName: SetName? = libraryFunction("pthread_setname_np")

    private final class Work {
        let name: String?
        let body: () -> Void

        init(_ name: String?, _ body: @escaping () -> Void) {
            self.name = name
            self.body = body
        }

        func run() {
            if let name { _ = DetachedThread.setName?(pthread_self(), name) }
            body()
        }
    }

    /// Runs `body` on a new thread.
    ///
    /// - Parameters:
    ///   - name: What debuggers call the thread; 15 bytes at most (pthread_setname_np(3)).
    ///   - stackSize: In bytes, of which only those that are used take memory; nil for the default (RLIMIT_STACK).
    /// - Returns: False if there can be no further thread.
    package static func start(
        _ name: String? = nil, stackSize: Int? = nil, _ body: @escaping @Sendable () -> Void
    ) -> Bool {
        let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
        defer { attributes.deallocate() }
        guard pthread_attr_init(attributes) == 0 else { return false }
        defer { pthread_attr_destroy(attributes) }
        if let stackSize { pthread_attr_setstacksize(attributes, stackSize) }
        pthread_attr_setdetachstate(attributes, Int32(PTHREAD_CREATE_DETACHED))
        let work = Unmanaged.passRetained(Work(name, body))
        var thread: pthread_t = 0
        let status = pthread_create(
            &thread, attributes,
            { argument in
                // Passed by the call below, always.
                if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            }, work.toOpaque())
        if status != 0 { work.release() }
        return status == 0
    }
}
