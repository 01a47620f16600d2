import CTSS2
import Glibc
import Synchronization

/// The socket of a conversation with a TPM, so that the conversation ends when this program wants it to.
///
/// The stack's sockets are inherited by every program that is started meanwhile. A TPM behind a socket serves one
/// client at a time, and would wait for the end of one that only such a program still holds; and a thread that waits for
/// a TPM that hangs is woken by nothing else.
final class ConversationSocket: Sendable {
    /// A descriptor of our own for the same socket: the stack's may be closed, and its number given away, at any time.
    private let descriptor: Mutex<Int32?>

    /// - Parameter transport: One of the stack's, connected. For a TPM that is no socket there is nothing to do.
    init(of transport: OpaquePointer?) {
        descriptor = Mutex(Self.descriptor(of: transport))
    }

    private static func descriptor(of transport: OpaquePointer?) -> Int32? {
        guard let transport else { return nil }
        // Every transport begins with this (CTSS2, esys.h).
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

    /// Ends the conversation for both sides, whoever else holds the socket. Safe on any thread.
    func end() {
        descriptor.withLock { descriptor in
            if let descriptor { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }

    deinit {
        descriptor.withLock { descriptor in
            if let descriptor { close(descriptor) }
        }
    }
}
