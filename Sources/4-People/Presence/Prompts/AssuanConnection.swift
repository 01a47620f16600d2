import Access
import Bytes
import CLibrary

/// The reason why a dialog gave no answer.
enum AssuanError: Error, Equatable {
    case canceled
    case timedOut
    case failed(reason: String)
}

/// The client's end of a connection in Assuan, the line protocol of GnuPG's programs.
final class AssuanConnection {
    struct Limits {
        var deadline: ContinuousClock.Instant
        var cancellation: Cancellation
    }

    /// The size of the buffer in bytes. A line has fewer, with its newline (Assuan manual, "Client requests").
    private static let lineLimit = 2_048

    private let descriptor: Int32
    private let limits: Limits
    /// The received bytes that are not read yet. The buffer can hold a passcode. It never moves, so that it can be
    /// wiped.
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: lineLimit, alignment: 1)
    private var filled = 0

    init(_ descriptor: Int32, _ limits: Limits) {
        self.descriptor = descriptor
        self.limits = limits
        buffer.initializeMemory(as: UInt8.self, repeating: 0)
    }

    deinit {
        SecretBytes.wipe(buffer)
        buffer.deallocate()
    }

    func close() { CLibrary.close(descriptor) }

    var secondsLeft: Int {
        max(1, Int(clamping: ContinuousClock.now.duration(to: limits.deadline) / .seconds(1)))
    }

    func awaitGreeting() throws(AssuanError) { _ = try awaitAnswer() }

    /// - Parameter tolerating: Whether to ignore a refusal of the other end.
    func send(_ command: String, tolerating: Bool = false) throws(AssuanError) {
        try write(command + "\n")
        let answer = Result { () throws(AssuanError) in try awaitAnswer() }
        if tolerating, case .failure(.failed) = answer { return }
        _ = try answer.get()
    }

    /// Returns what the person typed.
    func getPin() throws(AssuanError) -> SecretBytes {
        try write("GETPIN\n")
        if let typed = try awaitAnswer() { return typed }
        return try Self.secret(UnsafeRawBufferPointer(start: nil, count: 0))
    }

    /// Reads lines up to the end of an answer.
    ///
    /// - Returns: The data of the answer; nil if there was none.
    private func awaitAnswer() throws(AssuanError) -> SecretBytes? {
        var data: SecretBytes?
        while true {
            let length = try awaitLine()
            defer { drop(length + 1) }
            let line = UnsafeMutableRawBufferPointer(rebasing: buffer[..<length])
            if line.starts(with: "D ".utf8) {
                data = try Self.secret(AssuanText.unescape(line))
            } else if line.starts(with: "OK".utf8) {
                return data
            } else if line.starts(with: "ERR".utf8) {
                throw Self.error(String(decoding: line, as: UTF8.self))
            } else if line.starts(with: "INQUIRE".utf8) {
                // For example about the quality of a new passcode. There is no answer to it.
                try write("CAN\n")
            }
            // Skips status lines and comments.
        }
    }

    /// Reads until the buffer holds a whole line.
    ///
    /// - Returns: The length of the line without the newline.
    private func awaitLine() throws(AssuanError) -> Int {
        while true {
            if let end = buffer[..<filled].firstIndex(of: UInt8(ascii: "\n")) { return end }
            guard filled < buffer.count else { throw .failed(reason: "it answered with a line too long") }
            try wait()
            let got = read(descriptor, buffer.baseAddress?.advanced(by: filled), buffer.count - filled)
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { throw .failed(reason: "it ended without an answer") }
            filled += got
        }
    }

    private func wait() throws(AssuanError) {
        while true {
            var entries = [descriptor, limits.cancellation.descriptor]
                .map { pollfd(fd: $0, events: Int16(truncatingIfNeeded: POLLIN), revents: 0) }
            let ready = poll(&entries, 2, limits.deadline.millisecondsLeft)
            if entries[1].revents != 0, ready > 0 { throw .canceled }
            if ready > 0 { return }
            if ContinuousClock.now >= limits.deadline { throw .timedOut }
        }
    }

    private func drop(_ count: Int) {
        let rest = filled - count
        if let base = buffer.baseAddress { memmove(base, base + count, rest) }
        SecretBytes.wipe(UnsafeMutableRawBufferPointer(rebasing: buffer[rest..<filled]))
        filled = rest
    }

    private func write(_ text: String) throws(AssuanError) {
        let isSent = Array(text.utf8).withUnsafeBytes { SystemCall.sendAll($0, to: descriptor) }
        guard isSent else { throw .failed(reason: "it does not listen") }
    }

    private static func secret(_ bytes: UnsafeRawBufferPointer) throws(AssuanError) -> SecretBytes {
        do {
            return try SecretBytes(copying: bytes)
        } catch {
            throw .failed(reason: "out of memory")
        }
    }

    /// The codes of libgpg-error are in the lower 16 bits: 62 for a timeout, 99 for a cancellation, 114 for a person
    /// who does not agree, 198 for a cancellation of this and all following questions.
    private static func error(_ line: String) -> AssuanError {
        let code = line.split(separator: " ").dropFirst().first.flatMap { UInt32($0) } ?? 0
        switch code & 0xFFFF {
        case 62: return .timedOut
        case 99, 114, 198: return .canceled
        default: return .failed(reason: "error \(code & 0xFFFF)")
        }
    }
}
