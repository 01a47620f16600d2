import Bytes
import CLibrary
import CTSS2
import Synchronization

/// The socket of a connection to a TPM, with which this program can end the connection at any time.
///
/// Every program that is started meanwhile inherits the stack's sockets. A TPM behind a socket serves one client at a
/// time. It would wait for the end of a connection that only such a program still holds. And nothing else can wake a
/// thread that waits for a TPM that hangs.
final class ConversationSocket: Sendable {
    /// Our own descriptor of the same socket. The stack may close its descriptor at any time, and its number may be
    /// reused.
    private let descriptor: Mutex<Int32?>

    /// - Parameter transport: A connected transport of the stack. If it does not use a socket, this object does
    ///   nothing.
    init(of transport: OpaquePointer?) {
        descriptor = Mutex(Self.descriptor(of: transport))
    }

    private static func descriptor(of transport: OpaquePointer?) -> Int32? {
        guard let transport else { return nil }
        // Every transport begins with this struct (CTSS2, esys.h).
        let common = UnsafeRawPointer(transport).load(as: TCTI_CONTEXT_COMMON.self)
        var handle = pollfd()
        var count = 1
        guard let handles = common.getPollHandles, handles(transport, &handle, &count) == 0, count == 1 else {
            return nil
        }
        _ = fcntl(handle.fd, F_SETFD, FD_CLOEXEC)
        var information = stat()
        guard fstat(handle.fd, &information) == 0, information.st_mode & S_IFMT == S_IFSOCK else { return nil }
        let duplicate = fcntl(handle.fd, F_DUPFD_CLOEXEC, 0)
        return duplicate >= 0 ? duplicate : nil
    }

    /// Ends the connection for both sides, even if another process holds the socket. Any thread may call it.
    func end() {
        descriptor.withLock { descriptor in
            if let descriptor { shutdown(descriptor, Int32(truncatingIfNeeded: SHUT_RDWR)) }
        }
    }

    deinit {
        descriptor.withLock { descriptor in
            if let descriptor { close(descriptor) }
        }
    }
}
