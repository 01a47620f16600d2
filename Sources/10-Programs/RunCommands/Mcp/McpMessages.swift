import Bytes
import CLibrary
import CommandKit
import FoundationEssentials
import Synchronization

/// What is wrong with a request, as JSON-RPC 2.0 numbers it (section 5.1).
struct McpError: Error {
    var code: Int64
    var message: String

    static let parse = McpError(code: -32700, message: "the line is not JSON")
    static let tooLong = McpError(
        code: -32700, message: "the line has more than \(McpInput.longest >> 20) MiB, and was not read")

    static func invalidRequest(_ reason: String) -> McpError { McpError(code: -32600, message: reason) }
    static func invalidParameters(_ reason: String) -> McpError { McpError(code: -32602, message: reason) }
    static func noMethod(_ name: String) -> McpError {
        McpError(code: -32601, message: "there is no method '\(String(name.prefix(64)).escapedForTerminal)'")
    }

    /// - Parameter id: Nil if the request has none that can be told.
    func response(to id: JSONValue?) -> JSONValue {
        ["jsonrpc": "2.0", "id": id ?? .null, "error": ["code": .integer(code), "message": .string(message)]]
    }
}

/// Reads lines.
struct McpInput {
    /// The longest line in bytes.
    static let longest = 4 << 20

    enum Line {
        case line(Data)
        /// One that is too long. It was skipped.
        case long
    }

    private let descriptor: Int32
    private var buffer: [UInt8] = []
    /// How much of the buffer has no newline.
    private var searched = 0
    private var isSkipping = false

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// - Returns: The next line, without its end; nil at the end of the input. A line without an end is none.
    mutating func next() -> Line? {
        var room = [UInt8](repeating: 0, count: 65_536)
        while true {
            if let end = buffer[searched...].firstIndex(of: 0x0A) {
                let line = Data(buffer[..<end])
                buffer.removeFirst(end + 1)
                searched = 0
                if isSkipping || line.count > Self.longest {
                    isSkipping = false
                    return .long
                }
                // Empty lines are nothing, and the decoder takes the end of a line of Windows for a space.
                if line.allSatisfy({ $0 == 0x0D || $0 == 0x20 }) { continue }
                return .line(line)
            }
            searched = buffer.count
            if buffer.count > Self.longest { (buffer, searched, isSkipping) = ([], 0, true) }
            let count = SystemCall.retryOnInterrupt { read(descriptor, &room, room.count) }
            guard count > 0 else { return nil }
            if !isSkipping || room[..<count].contains(0x0A) { buffer += room[..<count] }
        }
    }
}

/// Writes lines. Several threads do, each a whole line.
final class McpOutput: Sendable {
    private let lock = Mutex(())
    private let descriptor: Int32
    /// Called when nobody reads any more.
    private let end: @Sendable () -> Void

    init(_ descriptor: Int32, end: @escaping @Sendable () -> Void) {
        self.descriptor = descriptor
        self.end = end
    }

    func write(_ message: JSONValue) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Values of JSON without other numbers than those that were read can always be written.
        guard var line = try? encoder.encode(message) else { return }
        line.append(0x0A)
        let isWritten = lock.withLock { _ in (try? FileOutput.write(line, to: descriptor)) != nil }
        if !isWritten { end() }
    }
}

/// The answer to one line: one message, or those of a batch.
final class McpAnswer: Sendable {
    private struct State {
        var left: Int
        var messages: [JSONValue] = []
    }

    private let output: McpOutput
    private let isBatch: Bool
    private let state: Mutex<State>

    init(_ output: McpOutput, of count: Int, isBatch: Bool) {
        self.output = output
        self.isBatch = isBatch
        state = Mutex(State(left: count))
    }

    /// Takes the answer to one message; nil for none. The last one of a line is written with all the others.
    func take(_ message: JSONValue?) {
        let messages: [JSONValue] = state.withLock { state in
            state.left -= 1
            if let message { state.messages.append(message) }
            return state.left == 0 ? state.messages : []
        }
        guard let first = messages.first else { return }
        output.write(isBatch ? .array(messages) : first)
    }
}
