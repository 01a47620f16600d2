import Glibc

/// Threads with small stacks, of which a thousand may wait.
package enum ConnectionThread {
    /// 512 KiB of addresses, of which only those that are used take memory: the engine needs less than half.
    private static let stackSize = 512 << 10

    private final class Work {
        let body: () -> Void
        init(_ body: @escaping () -> Void) { self.body = body }
    }

    /// Runs `body` on a new thread.
    ///
    /// - Returns: False if there can be no further thread.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
        defer { attributes.deallocate() }
        guard pthread_attr_init(attributes) == 0 else { return false }
        defer { pthread_attr_destroy(attributes) }
        pthread_attr_setstacksize(attributes, stackSize)
        pthread_attr_setdetachstate(attributes, Int32(PTHREAD_CREATE_DETACHED))
        let work = Unmanaged.passRetained(Work(body))
        var thread: pthread_t = 0
        let status = pthread_create(
            &thread, attributes,
            { argument in
                // Passed by the call below, always.
                if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body() }
                return nil
            }, work.toOpaque())
        if status != 0 { work.release() }
        return status == 0
    }
}
