import CLibrary
import SystemLibraries

/// Threads with small stacks, of which hundreds may wait.
package enum ConnectionThread {
    /// 512 KiB of addresses, of which only those that are used take memory: the engine needs less than half.
    private static let stackSize = 512 << 10

    /// Runs `body` on a new thread.
    ///
    /// - Returns: False if there can be no further thread.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        guard hasReserve else { return false }
        return DetachedThread.start(stackSize: stackSize, body)
    }

    /// Whether threads leave enough memory for what they do: where allocating fails, Swift ends the process.
    private static var hasReserve: Bool {
        // Asks for addresses, and for no memory.
        let room = mmap(nil, reserve, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
        guard let room, room != MAP_FAILED else { return false }
        munmap(room, reserve)
        return true
    }

    /// 192 MiB: the largest requests and answers that are under way at a time, with what they are made of.
    private static let reserve = 192 << 20
}
