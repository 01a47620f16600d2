import Bytes
import CLibrary
import CommandKit
import FoundationEssentials
import StatusCodes
import Synchronization

/// Messages between the browser and its host: a length of four bytes in the order of the processor, and JSON.
enum HostMessages {
    /// The longest message in bytes. Browsers take no longer one from a host.
    static let longest = 1 << 20

    /// Reads the next message.
    ///
    /// - Returns: Nil at the end of the input, which is when the browser has closed the connection.
    static func read(_ descriptor: Int32) throws(Failure) -> Data? {
        guard let head = try read(4, descriptor) else { return nil }
        var length: UInt32 = 0
        withUnsafeMutableBytes(of: &length) { $0.copyBytes(from: head) }
        guard (1...UInt32(clamping: longest)).contains(length) else {
            throw malformed("a message of \(length) bytes: a message has 1 to \(longest)")
        }
        guard let message = try read(Int(clamping: length), descriptor) else {
            throw malformed("a length without a message")
        }
        return message
    }

    static func malformed(_ what: String) -> Failure {
        Failure(
            status: errSecDecode, exitCode: ExitStatus.other,
            "the browser sent \(what); the host of the browser ends, and the browser starts it again")
    }

    /// - Returns: Nil if the input ends before the first byte.
    private static func read(_ count: Int, _ descriptor: Int32) throws(Failure) -> Data? {
        var bytes = Data(count: count)
        var filled = 0
        while filled < count {
            let free = count - filled
            let got = bytes.withUnsafeMutableBytes { buffer in
                SystemCall.retryOnInterrupt {
                    CLibrary.read(descriptor, buffer.baseAddress?.advanced(by: filled), free)
                }
            }
            guard got >= 0 else { throw .system("standard input cannot be read", errno) }
            if got == 0 {
                guard filled > 0 else { return nil }
                throw malformed("a message that ends too early")
            }
            filled += got
        }
        return bytes
    }
}

/// Where answers go. Several threads write, each a whole message.
final class HostOutput: Sendable {
    private let lock = Mutex(())
    private let descriptor: Int32

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Returns false if the message is longer than browsers take. A browser that went away is noticed at the input.
    @discardableResult
    func write(_ message: Data) -> Bool {
        guard message.count <= HostMessages.longest else { return false }
        let length = UInt32(clamping: message.count)
        let bytes = withUnsafeBytes(of: length) { Data($0) } + message
        lock.withLock { _ in
            _ = try? FileOutput.write(bytes, to: descriptor)
        }
        return true
    }
}
