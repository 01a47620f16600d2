import Bytes
import FoundationEssentials

/// A reader of the fields of an SSH message (RFC 4251, 5).
struct SSHReader {
    private var rest: Data

    init(_ message: Data) { rest = message }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() throws(SSHAgentError) -> UInt8 {
        guard let byte = rest.popFirst() else { throw .malformed }
        return byte
    }

    mutating func boolean() throws(SSHAgentError) -> Bool { try byte() != 0 }

    mutating func uint32() throws(SSHAgentError) -> UInt32 {
        var number: UInt32 = 0
        for _ in 0..<4 { number = number << 8 | UInt32(try byte()) }
        return number
    }

    mutating func string() throws(SSHAgentError) -> Data {
        let count = Int(try uint32())
        guard count <= rest.count else { throw .malformed }
        defer { rest.removeFirst(count) }
        return Data(rest.prefix(count))
    }

    mutating func text() throws(SSHAgentError) -> String {
        guard let text = String(data: try string(), encoding: .utf8) else { throw .malformed }
        return text
    }
}

/// A writer of an SSH message (RFC 4251, 5).
struct SSHWriter {
    private(set) var message = Data()

    mutating func append(byte: UInt8) { message.append(byte) }

    mutating func append(uint32 number: UInt32) { message.append(bigEndian: number) }

    mutating func append(string bytes: some Collection<UInt8>) {
        append(uint32: UInt32(truncatingIfNeeded: bytes.count))
        message.append(contentsOf: bytes)
    }

    /// Appends a number that is not negative, from its big-endian bytes.
    mutating func append(integer magnitude: Data) {
        let digits = magnitude.drop { $0 == 0 }
        let needsZero = digits.first.map { $0 & 0x80 != 0 } ?? false
        append(string: (needsZero ? Data([0]) : Data()) + digits)
    }
}

/// The reason why a message was not understood, or a request was not fulfilled.
package enum SSHAgentError: Error, Equatable {
    case malformed
    case unsupported
    case noSuchKey
    /// A person, or the vault, said no.
    case refused(reason: String)
}
