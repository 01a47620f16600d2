#if HTTPClientSupport
import CLibrary
import SystemLibraries

/// The sockets at which an isolated program finds the broker. They were made among the program's own interfaces.
enum ReceivedSockets {
    /// Waits for the sockets.
    ///
    /// - Returns: None if `keychain run` is gone.
    static func all(from descriptor: Int32) async -> [Int32] {
        await withCheckedContinuation { continuation in
            let isStarted = DetachedThread.start("socket") {
                let message = PassedDescriptors.receive(from: descriptor)
                close(descriptor)
                continuation.resume(returning: message?.descriptors ?? [])
            }
            if !isStarted { continuation.resume(returning: []) }
        }
    }
}
#endif
