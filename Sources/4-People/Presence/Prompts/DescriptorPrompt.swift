import Access
import Bytes
import CLibrary
import Synchronization

/// Reads the passcode once from an open file descriptor, for scripts, PAM modules and services.
///
/// Reads byte by byte up to a newline, a NUL or the end, so that the next reader finds the following bytes. Every
/// question gets the same answer. A question with a complaint about it gets none.
package final class DescriptorPrompt: PasscodePrompt {
    /// The largest size of such a passcode in bytes.
    package static let limit = 4_096

    private let descriptor: Int32
    private let answer = Mutex<PasscodeAnswer?>(nil)

    /// - Parameter descriptor: Stays open. The caller closes it.
    package init(_ descriptor: Int32) { self.descriptor = descriptor }

    package var isAvailable: Bool { true }

    package func ask(_ question: PasscodeQuestion, until deadline: ContinuousClock.Instant) -> PasscodeAnswer {
        ask(question, until: deadline, cancellation: Cancellation())
    }

    package func ask(
        _ question: PasscodeQuestion, until deadline: ContinuousClock.Instant, cancellation: Cancellation
    ) -> PasscodeAnswer {
        if let complaint = question.complaint {
            return .unavailable(remedy: "\(complaint) (read from descriptor \(descriptor))")
        }
        return answer.withLock { answer in
            if let answer { return answer }
            let read = read(until: deadline, cancellation)
            answer = read
            return read
        }
    }

    private func read(until deadline: ContinuousClock.Instant, _ cancellation: Cancellation) -> PasscodeAnswer {
        var buffer = [UInt8](repeating: 0, count: Self.limit)
        defer { buffer.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
        var count = 0
        while true {
            var entries = [descriptor, cancellation.descriptor]
                .map { pollfd(fd: $0, events: Int16(truncatingIfNeeded: POLLIN), revents: 0) }
            guard poll(&entries, 2, deadline.millisecondsLeft) > 0 else {
                if ContinuousClock.now >= deadline { return .timedOut }
                continue
            }
            if entries[1].revents != 0 { return .canceled }
            var byte: UInt8 = 0
            let got = CLibrary.read(descriptor, &byte, 1)
            if got < 0, errno == EINTR || errno == EAGAIN { continue }
            guard got >= 0 else {
                let reason = String(cString: strerror(errno))
                return .unavailable(
                    remedy: "the passcode cannot be read from descriptor \(descriptor) (\(reason)): open it for reading"
                )
            }
            // pam_exec ends the password with a NUL.
            if got == 0 || byte == UInt8(ascii: "\n") || byte == 0 { break }
            guard count < Self.limit else {
                return .unavailable(
                    remedy: "the passcode on descriptor \(descriptor) has more than \(Self.limit) bytes")
            }
            buffer[count] = byte
            count += 1
        }
        do {
            return .passcode(try buffer[..<count].withUnsafeBytes { try SecretBytes(copying: $0) })
        } catch {
            return .unavailable(remedy: "there is no memory for the passcode")
        }
    }
}
