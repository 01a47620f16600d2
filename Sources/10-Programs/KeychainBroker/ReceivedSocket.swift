#if HTTPClientSupport
import CLibrary
import SystemLibraries

/// The socket at which an isolated program finds the broker. It was made among the program's own interfaces.
enum ReceivedSocket {
    /// Waits for the socket.
    ///
    /// - Returns: Nil if `keychain run` is gone.
    static func next(from descriptor: Int32) async -> Int32? {
        await withCheckedContinuation { continuation in
            let isStarted = DetachedThread.start("socket") {
                let message = PassedDescriptors.receive(from: descriptor)
                close(descriptor)
                continuation.resume(returning: message?.descriptors.first)
            }
            if !isStarted { continuation.resume(returning: nil) }
        }
    }
}
#endif
