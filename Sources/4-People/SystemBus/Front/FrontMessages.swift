import Bytes
import FoundationEssentials
import Frames

/// What a front process tells the process that started it.
package enum FrontReport: Sendable {
    /// A program asks for something, and waits for the answer.
    case call(FrontCall)
    /// A message came that needs no answer of the service. The front goes on when it is told so.
    case passed
    /// A message that is arriving takes so many bytes. The front goes on when it is told so.
    case room(Int)
    /// A program has read a long answer.
    case taken
    /// The front is on the bus. These measures are not in force.
    case ready([String])
    /// The front is not on the bus, for this reason.
    case failed(String)
    /// The connection with this name left the bus.
    case left(String)
    /// Another program took the service's name.
    case nameLost
}

/// A call that a front process has read.
package struct FrontCall: Sendable {
    /// Comes back with the answer.
    package var number: UInt32
    /// What is asked, and by whom.
    package var request: BusRequest
    /// Nil if they are malformed, or too many. A descriptor stays with the front.
    package var arguments: [BusValue]?
    /// The program's process, as the bus says.
    package var process: Int32?
    /// Whether the caller owns the only bus name that may call this object.
    package var isOfGuardian: Bool

    /// A call as the front read it.
    package init(
        number: UInt32 = 0, request: BusRequest, arguments: [BusValue]?, process: Int32? = nil,
        isOfGuardian: Bool = false
    ) {
        (self.number, self.request, self.arguments) = (number, request, arguments)
        (self.process, self.isOfGuardian) = (process, isOfGuardian)
    }
}

/// What a front process is told to do.
package enum FrontOrder: Sendable {
    /// Answer a call.
    ///
    /// - Parameter written: What to write into the descriptor that is among the call's arguments.
    case answer(UInt32, [BusArgument], isSecret: Bool, written: Data?)
    /// Answer a call with an error.
    case refusal(UInt32, name: String, message: String)
    /// Send a signal.
    case signal(SentSignal)
    /// Go on with what was told last.
    case goOn
}

extension FrontReport {
    /// The longest frame in bytes: a message of a program without a bus, and the types of its values. A front refuses a
    /// longer call by itself.
    package static let longest = 4 << 20
    /// The most values of a message, and their deepest nesting.
    private static let (mostValues, deepest) = (65_536, 16)

    /// Appends a frame.
    package func encode(to buffer: FrameBuffer) {
        switch self {
        case .call(let call): buffer.appendFrame(1) { call.encode(to: buffer) }
        case .passed: buffer.appendFrame(2) {}
        case .room(let bytes): buffer.appendFrame(3) { buffer.append(UInt32(clamping: bytes)) }
        case .taken: buffer.appendFrame(4) {}
        case .ready(let missing): buffer.appendFrame(5) { buffer.append(list: missing) { buffer.append($0) } }
        case .failed(let reason): buffer.appendFrame(6) { buffer.append(reason) }
        case .left(let name): buffer.appendFrame(7) { buffer.append(name) }
        case .nameLost: buffer.appendFrame(8) {}
        }
    }

    /// Reads a frame, which may hold any bytes: a program may have taken the front over.
    package init(_ frame: FrameBuffer) throws(FrameError) {
        var reader = FrameReader(frame)
        switch try reader.integer(UInt8.self) {
        case 1:
            var left = Self.mostValues
            self = .call(try FrontCall(from: &reader, &left))
        case 2: self = .passed
        case 3: self = .room(Int(try reader.integer(UInt32.self)))
        case 4: self = .taken
        case 5:
            self = .ready(try reader.list(limit: 16) { reader throws(FrameError) in try reader.string(limit: 4096) })
        case 6: self = .failed(try reader.string(limit: 4096))
        case 7: self = .left(try reader.string(limit: 255))
        case 8: self = .nameLost
        default: throw FrameError("unknown kind of report")
        }
        try reader.finish()
    }

    fileprivate static func values(
        _ reader: inout FrameReader, depth: Int, _ left: inout Int
    ) throws(FrameError) -> [BusValue] {
        guard depth < deepest else { throw FrameError("too deep") }
        let count = try reader.count(limit: left)
        left -= count
        var values: [BusValue] = []
        for _ in 0..<count { values.append(try value(&reader, depth, &left)) }
        return values
    }

    private static func value(
        _ reader: inout FrameReader, _ depth: Int, _ left: inout Int
    ) throws(FrameError) -> BusValue {
        switch UnicodeScalar(try reader.integer(UInt8.self)) {
        case "y": return .byte(try reader.integer())
        case "b": return .boolean(try reader.bool())
        case "x": return .integer(try reader.integer())
        case "t": return .unsigned(try reader.integer())
        case "d": return .double(Double(bitPattern: try reader.integer()))
        case "s": return .string(try reader.string(limit: longest))
        case "h": return .descriptor(.elsewhere)
        case "a": return .array(try values(&reader, depth: depth + 1, &left))
        case "r": return .structure(try values(&reader, depth: depth + 1, &left))
        case "B": return .bytes(.wipedWhenFreed(copying: try reader.counted()))
        case "v":
            left -= 1
            guard left >= 0, depth < deepest else { throw FrameError("too deep, or too many values") }
            return .variant(try value(&reader, depth + 1, &left))
        default: throw FrameError("unknown type of value")
        }
    }
}

extension FrontCall {
    fileprivate func encode(to buffer: FrameBuffer) {
        buffer.append(number)
        for text in [request.path, request.interface, request.member, request.sender, request.signature] {
            buffer.append(text)
        }
        buffer.append(optional: arguments) { buffer.append(values: $0) }
        buffer.append(optional: process) { buffer.append($0) }
        buffer.append(isOfGuardian)
    }

    fileprivate init(from reader: inout FrameReader, _ left: inout Int) throws(FrameError) {
        let number = try reader.integer(UInt32.self)
        // Names have up to 255 bytes, and so have signatures; a path has no limit of its own (D-Bus specification).
        let path = try reader.string(limit: FrontReport.longest)
        let request = BusRequest(
            path: path, interface: try reader.string(limit: 255), member: try reader.string(limit: 255),
            sender: try reader.string(limit: 255), signature: try reader.string(limit: 255))
        let arguments = try reader.bool() ? try FrontReport.values(&reader, depth: 0, &left) : nil
        guard arguments?.match(request.signature) ?? true else { throw FrameError("arguments of other types") }
        let process = try reader.optional { reader throws(FrameError) in try reader.integer(Int32.self) }
        self.init(
            number: number, request: request, arguments: arguments, process: process,
            isOfGuardian: try reader.bool())
    }
}

extension FrontOrder {
    /// The longest frame in bytes: an answer with secrets of 8 MiB, or with the paths of a hundred thousand items.
    static let longest = 128 << 20

    /// Appends a frame.
    package func encode(to buffer: FrameBuffer) {
        switch self {
        case .answer(let number, let values, let isSecret, let written):
            buffer.appendFrame(1) {
                buffer.append(number)
                buffer.append(isSecret)
                buffer.append(optional: written) { bytes in bytes.withUnsafeBytes { buffer.append(counted: $0) } }
                buffer.append(arguments: values)
            }
        case .refusal(let number, let name, let message):
            buffer.appendFrame(2) {
                buffer.append(number)
                buffer.append(name)
                buffer.append(message)
            }
        case .signal(let signal):
            buffer.appendFrame(3) {
                for text in [signal.path, signal.interface, signal.member, signal.destination] { buffer.append(text) }
                buffer.append(arguments: signal.values)
            }
        case .goOn: buffer.appendFrame(4) {}
        }
    }

    /// Reads a frame.
    package init(_ frame: FrameBuffer) throws(FrameError) {
        var reader = FrameReader(frame)
        switch try reader.integer(UInt8.self) {
        case 1:
            let number = try reader.integer(UInt32.self)
            let isSecret = try reader.bool()
            let written = try reader.bool() ? Data.wipedWhenFreed(copying: try reader.counted()) : nil
            self = .answer(number, try Self.arguments(&reader), isSecret: isSecret, written: written)
        case 2:
            self = .refusal(
                try reader.integer(), name: try reader.string(limit: 255), message: try reader.string(limit: 1 << 20))
        case 3:
            var signal = SentSignal(
                path: try reader.string(limit: 1 << 20), interface: try reader.string(limit: 255),
                member: try reader.string(limit: 255), values: [])
            signal.destination = try reader.string(limit: 255)
            signal.values = try Self.arguments(&reader)
            self = .signal(signal)
        case 4: self = .goOn
        default: throw FrameError("unknown kind of order")
        }
        try reader.finish()
    }

    private static func arguments(_ reader: inout FrameReader) throws(FrameError) -> [BusArgument] {
        let count = try reader.count(limit: longest)
        var values: [BusArgument] = []
        for _ in 0..<count { values.append(try argument(&reader)) }
        return values
    }

    private static func argument(_ reader: inout FrameReader) throws(FrameError) -> BusArgument {
        switch UnicodeScalar(try reader.integer(UInt8.self)) {
        case "s": return .string(try reader.string(limit: longest))
        case "o": return .path(try reader.string(limit: longest))
        case "b": return .boolean(try reader.bool())
        case "u": return .unsigned32(try reader.integer())
        case "t": return .unsigned64(try reader.integer())
        case "B": return .bytes(.wipedWhenFreed(copying: try reader.counted()))
        case "a":
            let type = try reader.string(limit: 255)
            return .array(of: type, try arguments(&reader))
        case "r": return .structure(try arguments(&reader))
        case "e": return .entry(try argument(&reader), try argument(&reader))
        case "v": return .variant(try argument(&reader))
        default: throw FrameError("unknown type of argument")
        }
    }
}

extension FrameBuffer {
    fileprivate func append(values: [BusValue]) { append(list: values) { append($0) } }

    /// Appends the letter of a type, and what `body` appends.
    private func append(_ letter: UnicodeScalar, _ body: () -> Void) {
        append(UInt8(ascii: letter))
        body()
    }

    private func append(_ value: BusValue) {
        switch value {
        case .byte(let number): append("y") { append(number) }
        case .boolean(let flag): append("b") { append(flag) }
        case .integer(let number): append("x") { append(number) }
        case .unsigned(let number): append("t") { append(number) }
        case .double(let number): append("d") { append(number.bitPattern) }
        case .string(let text): append("s") { append(text) }
        case .descriptor: append("h") {}
        case .array(let values): append("a") { append(values: values) }
        case .bytes(let bytes): append("B") { bytes.withUnsafeBytes { append(counted: $0) } }
        case .structure(let values): append("r") { append(values: values) }
        case .variant(let value): append("v") { append(value) }
        }
    }

    fileprivate func append(arguments: [BusArgument]) { append(list: arguments) { append($0) } }

    private func append(_ argument: BusArgument) {
        switch argument {
        case .string(let text): append("s") { append(text) }
        case .path(let text): append("o") { append(text) }
        case .boolean(let flag): append("b") { append(flag) }
        case .unsigned32(let number): append("u") { append(number) }
        case .unsigned64(let number): append("t") { append(number) }
        case .bytes(let bytes): append("B") { bytes.withUnsafeBytes { append(counted: $0) } }
        case .array(let type, let values):
            append("a") {
                append(type)
                append(arguments: values)
            }
        case .structure(let values): append("r") { append(arguments: values) }
        case .entry(let key, let value):
            append("e") {
                append(key)
                append(value)
            }
        case .variant(let value): append("v") { append(value) }
        }
    }
}
