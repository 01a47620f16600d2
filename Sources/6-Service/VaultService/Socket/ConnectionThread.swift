import SystemLibraries

/// Threads with small stacks, of which a thousand may wait.
package enum ConnectionThread {
    /// 512 KiB of addresses, of which only those that are used take memory: the engine needs less than half.
    private static let stackSize = 512 << 10

    /// Runs `body` on a new thread.
    ///
    /// - Returns: False if there can be no further thread.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        DetachedThread.start(stackSize: stackSize, body)
    }
}
