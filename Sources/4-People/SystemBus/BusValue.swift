import Bytes
import CLibrary
import FoundationEssentials

/// A value in a D-Bus message.
package enum BusValue: Sendable, Equatable {
    case byte(UInt8)
    case boolean(Bool)
    case integer(Int64)
    case unsigned(UInt64)
    case double(Double)
    /// A string, an object path or a signature.
    case string(String)
    case descriptor(BusDescriptor)
    case array([BusValue])
    /// An array of bytes, which are wiped when the last copy of the value goes. The message does not have them any
    /// more.
    case bytes(Data)
    /// A struct, or an entry of a dictionary.
    case structure([BusValue])
    indirect case variant(BusValue)

    /// The text of a string, an object path or a signature; nil for another value.
    package var string: String? { if case .string(let value) = self { value } else { nil } }
    /// Nil for another value.
    package var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }
    /// Nil for another value.
    package var unsigned: UInt64? { if case .unsigned(let value) = self { value } else { nil } }
    /// The elements of an array or a struct.
    package var elements: [BusValue]? {
        switch self {
        case .array(let values), .structure(let values): values
        default: nil
        }
    }
    /// The value inside a variant.
    package var content: BusValue? { if case .variant(let value) = self { value } else { nil } }

    /// About how many bytes of memory the value takes.
    package var size: Int {
        switch self {
        case .string(let text): 64 + text.utf8.count
        case .bytes(let bytes): 64 + bytes.count
        case .array(let values), .structure(let values): values.reduce(64) { $0 + $1.size }
        case .variant(let value): 64 + value.size
        case .byte, .boolean, .integer, .unsigned, .double, .descriptor: 64
        }
    }

    /// Returns the value for `key` in a dictionary of variants.
    package func entry(_ key: String) -> BusValue? {
        elements?.first { $0.elements?.first?.string == key }?.elements?.last?.content
    }
}

/// A file descriptor from a message. It is closed when the last reference goes.
package final class BusDescriptor: Sendable, Equatable {
    /// -1 for one that another process has.
    package let number: Int32

    /// One that the process has which read the message.
    package static let elsewhere = BusDescriptor()

    private init() { number = -1 }

    /// - Returns: Nil if there can be no further descriptor.
    fileprivate init?(copying descriptor: Int32) {
        number = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        guard number >= 0 else { return nil }
    }

    deinit { if number >= 0 { close(number) } }

    package static func == (one: BusDescriptor, other: BusDescriptor) -> Bool { one === other }
}

/// An argument of a method call, an answer or a signal.
package enum BusArgument: Sendable, Equatable {
    case string(String)
    case path(String)
    case boolean(Bool)
    case unsigned32(UInt32)
    case unsigned64(UInt64)
    /// An array of bytes.
    case bytes(Data)
    /// Elements of one type, in D-Bus's notation.
    case array(of: String, [BusArgument])
    case structure([BusArgument])
    /// An entry of a dictionary, which is an array of entries.
    indirect case entry(BusArgument, BusArgument)
    indirect case variant(BusArgument)

    /// About how many bytes of memory the value takes.
    package var size: Int {
        switch self {
        case .string(let text), .path(let text): 64 + text.utf8.count
        case .bytes(let bytes): 64 + bytes.count
        case .array(_, let values), .structure(let values): values.reduce(64) { $0 + $1.size }
        case .entry(let key, let value): 64 + key.size + value.size
        case .variant(let value): 64 + value.size
        case .boolean, .unsigned32, .unsigned64: 64
        }
    }

    /// The type in D-Bus's notation.
    package var type: String {
        switch self {
        case .string: "s"
        case .path: "o"
        case .boolean: "b"
        case .unsigned32: "u"
        case .unsigned64: "t"
        case .bytes: "ay"
        case .array(let type, _): "a" + type
        case .structure(let values): "(" + values.map(\.type).joined() + ")"
        case .entry(let key, let value): "{" + key.type + value.type + "}"
        case .variant: "v"
        }
    }
}

extension SDBus {
    /// The deepest nesting of containers. A deeper message counts as malformed; D-Bus allows 64.
    private static let depthLimit = 16

    func append(_ argument: BusArgument, to message: Pointer) -> Int32 {
        switch argument {
        case .string(let text):
            return text.withCString { appendBasic(message, Self.code("s"), $0) }
        case .boolean(let flag):
            var value: Int32 = flag ? 1 : 0
            return appendBasic(message, Self.code("b"), &value)
        case .path(let text):
            return text.withCString { appendBasic(message, Self.code("o"), $0) }
        case .unsigned32(let number):
            var value = number
            return appendBasic(message, Self.code("u"), &value)
        case .unsigned64(let number):
            var value = number
            return appendBasic(message, Self.code("t"), &value)
        case .bytes(let bytes):
            return bytes.withUnsafeBytes { appendArray(message, Self.code("y"), $0.baseAddress, $0.count) }
        case .array(let type, let values): return append(values, to: message, "a", type)
        case .structure(let values): return append(values, to: message, "r", values.map(\.type).joined())
        case .entry(let key, let value): return append([key, value], to: message, "e", key.type + value.type)
        case .variant(let value): return append([value], to: message, "v", value.type)
        }
    }

    private func append(_ values: [BusArgument], to message: Pointer, _ kind: UnicodeScalar, _ type: String) -> Int32 {
        var result = type.withCString { openContainer(message, Self.code(kind), $0) }
        for value in values where result >= 0 { result = append(value, to: message) }
        return result < 0 ? result : closeContainer(message)
    }

    /// Reads the values of a message; nil if they are malformed.
    ///
    /// - Parameter most: The most values. A value takes up to 200 bytes, and one in the message.
    func readValues(_ message: Pointer, most: Int = 1 << 20) -> [BusValue]? {
        var left = most
        return readValues(message, depth: 0, &left)
    }

    /// Reads values up to the end of the message or of the entered container.
    private func readValues(_ message: Pointer, depth: Int, _ left: inout Int) -> [BusValue]? {
        guard depth < Self.depthLimit else { return nil }
        var values: [BusValue] = []
        while true {
            var type: CChar = 0
            var contents: Text?
            let found = peekType(message, &type, &contents)
            guard found >= 0 else { return nil }
            if found == 0 { return values }
            left -= 1
            guard left >= 0, let value = readValue(message, type, contents, depth, &left) else { return nil }
            values.append(value)
        }
    }

    private func readValue(
        _ message: Pointer, _ type: CChar, _ contents: Text?, _ depth: Int, _ left: inout Int
    ) -> BusValue? {
        func basic<Value: BitwiseCopyable>(_ empty: Value) -> Value? {
            var value = empty
            return readBasic(message, type, &value) > 0 ? value : nil
        }
        switch UnicodeScalar(UInt8(bitPattern: type)) {
        case "y": return basic(UInt8(0)).map { .byte($0) }
        case "b": return basic(Int32(0)).map { .boolean($0 != 0) }
        case "n": return basic(Int16(0)).map { .integer(Int64($0)) }
        case "i": return basic(Int32(0)).map { .integer(Int64($0)) }
        case "x": return basic(Int64(0)).map { .integer($0) }
        case "q": return basic(UInt16(0)).map { .unsigned(UInt64($0)) }
        case "u": return basic(UInt32(0)).map { .unsigned(UInt64($0)) }
        case "t": return basic(UInt64(0)).map { .unsigned($0) }
        case "d": return basic(Double(0)).map { .double($0) }
        // A message can name one descriptor thousands of times.
        case "h" where depth == 0:
            return basic(Int32(-1)).flatMap { BusDescriptor(copying: $0) }.map { .descriptor($0) }
        case "s", "o", "g":
            guard let text = basic(Text?.none), let text else { return nil }
            return .string(String(cString: text))
        case "a" where contents.map({ String(cString: $0) }) == "y": return bytes(message).map { .bytes($0) }
        case "a": return container(message, type, contents, depth, &left).map { .array($0) }
        case "r", "e": return container(message, type, contents, depth, &left).map { .structure($0) }
        case "v": return container(message, type, contents, depth, &left)?.first.map { .variant($0) }
        default: return nil
        }
    }

    /// Takes the bytes, which may be a secret, out of the message.
    private func bytes(_ message: Pointer) -> Data? {
        var start: UnsafeRawPointer?
        var count = 0
        guard readArray(message, Self.code("y"), &start, &count) >= 0 else { return nil }
        guard let start, count > 0 else { return Data() }
        let place = UnsafeMutableRawPointer(mutating: start)
        defer { explicit_bzero(place, count) }
        guard let copy = malloc(count) else { return nil }
        copy.copyMemory(from: place, byteCount: count)
        return .wipedWhenFreed(adopting: copy, count: count)
    }

    private func container(
        _ message: Pointer, _ type: CChar, _ contents: Text?, _ depth: Int, _ left: inout Int
    ) -> [BusValue]? {
        guard enterContainer(message, type, contents) > 0 else { return nil }
        guard let values = readValues(message, depth: depth + 1, &left) else { return nil }
        return exitContainer(message) >= 0 ? values : nil
    }

    private static func code(_ letter: UnicodeScalar) -> CChar { CChar(truncatingIfNeeded: letter.value) }
}
