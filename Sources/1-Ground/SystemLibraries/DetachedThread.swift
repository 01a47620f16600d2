import Bytes
import CLibrary

/// Starts threads that nobody joins. Such a thread ends with its function.
package enum DetachedThread {
    // Looked up at run time, because the header declares it only for programs that ask for GNU's extensions.
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
    ///   - name: The name of the thread for debuggers; at most 15 bytes (pthread_setname_np(3)).
    ///   - stackSize: In bytes; only the used part takes memory. Nil for the default (RLIMIT_STACK).
    /// - Returns: False if the system could not start another thread.
    package static func start(
        _ name: String? = nil, stackSize: Int? = nil, _ body: @escaping @Sendable () -> Void
    ) -> Bool {
        let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
        defer { attributes.deallocate() }
        guard pthread_attr_init(attributes) == 0 else { return false }
        defer { pthread_attr_destroy(attributes) }
        if let stackSize { pthread_attr_setstacksize(attributes, stackSize) }
        pthread_attr_setdetachstate(attributes, Int32(truncatingIfNeeded: PTHREAD_CREATE_DETACHED))
        let work = Unmanaged.passRetained(Work(name, body))
        var thread: pthread_t = 0
        let status = pthread_create(
            &thread, attributes,
            { argument in
                // Always there: the call below passes it.
                if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            }, work.toOpaque())
        if status != 0 { work.release() }
        return status == 0
    }
}
