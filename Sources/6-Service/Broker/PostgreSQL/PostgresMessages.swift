import Bytes

/// A parameter of a session, as a program asks for it at its beginning.
package struct PostgresParameter: Sendable, Equatable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
}

/// The first message of a connection (PostgreSQL, "Message Formats"). It has no type.
package enum PostgresStartup: Sendable, Equatable {
    /// The program asks whether TLS or GSSAPI is spoken.
    case encryption
    /// The running query of another connection is to end: the number of that session, and its key.
    case cancel([UInt8])
    case login(Request)

    /// What a program asks for.
    package struct Request: Sendable, Equatable {
        /// Of version 3 of the protocol.
        package var minor: Int
        package var parameters: [PostgresParameter]

        package var user: String? { parameters.first { $0.name == "user" }?.value }
        package var database: String? { parameters.first { $0.name == "database" }?.value }
        /// The options of the protocol. The broker knows none.
        package var options: [String] { parameters.map(\.name).filter { $0.hasPrefix("_pq_.") } }
    }

    /// In bytes: PostgreSQL's own limit (MAX_STARTUP_PACKET_LENGTH).
    package static let longest = 10_000
    private static let (cancelCode, tlsCode, gssCode): (UInt32, UInt32, UInt32) = (80_877_102, 80_877_103, 80_877_104)
    /// A key has 4 bytes in version 3.0, and up to 256 in 3.2.
    private static let longestKey = 256

    /// Takes a message from the beginning of bytes.
    ///
    /// - Returns: Nil if there are too few bytes.
    /// - Throws: ``PostgresProblem``.
    package static func take(_ bytes: inout [UInt8]) throws(PostgresProblem) -> PostgresStartup? {
        guard bytes.count >= 4 else { return nil }
        let length = Int(clamping: PostgresMessage.number(bytes[0..<4]))
        guard (8...longest).contains(length) else {
            throw PostgresProblem("this is no beginning of a connection to PostgreSQL")
        }
        guard bytes.count >= length else { return nil }
        let body = Array(bytes[8..<length])
        let code = PostgresMessage.number(bytes[4..<8])
        bytes.removeFirst(length)
        switch code {
        case tlsCode where body.isEmpty, gssCode where body.isEmpty: return .encryption
        case cancelCode where (8...longestKey + 4).contains(body.count): return .cancel(body)
        case _ where code >> 16 == 3:
            return .login(Request(minor: Int(clamping: code & 0xFFFF), parameters: try parameters(body)))
        default: throw PostgresProblem("the program speaks a version of the protocol that the broker does not know")
        }
    }

    private static func parameters(_ body: [UInt8]) throws(PostgresProblem) -> [PostgresParameter] {
        var reader = PostgresReader(body)
        var parameters: [PostgresParameter] = []
        while true {
            guard let name = reader.text() else { break }
            guard !name.isEmpty else {
                guard reader.isAtEnd else { break }
                return parameters
            }
            // Servers differ in which of two they use.
            guard let value = reader.text(), !parameters.contains(where: { $0.name == name }) else { break }
            parameters.append(PostgresParameter(name, value))
        }
        throw PostgresProblem("the parameters of the session are malformed, or one is there twice")
    }
}

/// A message of version 3 of the protocol: a type, a length and a body.
package struct PostgresMessage: Sendable, Equatable {
    package var type: UInt8
    package var body: [UInt8]

    package init(_ type: Character, _ body: [UInt8]) { (self.type, self.body) = (type.asciiValue ?? 0, body) }

    /// In bytes, of a message before the session is ready. PostgreSQL sends no longer ones there.
    package static let longest = 65_536

    package var encoded: [UInt8] { [type] + Self.bytes(UInt32(clamping: body.count + 4)) + body }

    /// Takes a message from the beginning of bytes.
    ///
    /// - Returns: Nil if there are too few bytes.
    /// - Throws: ``PostgresProblem`` if it is longer than ``longest``.
    package static func take(_ bytes: inout [UInt8]) throws(PostgresProblem) -> PostgresMessage? {
        guard bytes.count >= 5 else { return nil }
        let length = Int(clamping: number(bytes[1..<5]))
        guard (4...longest).contains(length) else { throw PostgresProblem("this is no message of PostgreSQL") }
        guard bytes.count > length else { return nil }
        var message = PostgresMessage("\0", Array(bytes[5..<length + 1]))
        message.type = bytes[0]
        bytes.removeFirst(length + 1)
        return message
    }

    /// The text of a message that is one text with a NUL at its end; nil for another one.
    package var text: [UInt8]? {
        guard body.last == 0, case let text = body.dropLast(), !text.contains(0) else { return nil }
        return Array(text)
    }

    // MARK: Numbers

    /// In the order of the network.
    static func number(_ bytes: some Sequence<UInt8>) -> UInt32 {
        bytes.reduce(0) { $0 << 8 | UInt32(truncatingIfNeeded: $1) }
    }

    static func bytes(_ number: UInt32) -> [UInt8] {
        stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt32(clamping: $0)) }
    }

    /// A text has a NUL at its end, and so none in it.
    private static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes += text.utf8.filter { $0 != 0 }
        bytes.append(0)
    }

    // MARK: To the program

    /// AuthenticationCleartextPassword: the placeholder is to come.
    package static let passwordRequest = PostgresMessage("R", bytes(3))
    /// AuthenticationOk.
    package static let authenticated = PostgresMessage("R", bytes(0))

    /// NegotiateProtocolVersion: version 3.0, and these options are not known.
    package static func version(without options: [String]) -> PostgresMessage {
        var body = bytes(3 << 16)
        body += bytes(UInt32(clamping: options.count))
        for option in options { append(option, to: &body) }
        return PostgresMessage("v", body)
    }

    /// ErrorResponse, after which the connection ends.
    ///
    /// - Parameter code: PostgreSQL's code of the error, such as `28P01` for a wrong password.
    package static func failure(_ code: String, _ text: String) -> PostgresMessage {
        var body: [UInt8] = []
        for (kind, value) in [("S", "FATAL"), ("V", "FATAL"), ("C", code), ("M", text)] {
            body += kind.utf8
            append(value, to: &body)
        }
        body.append(0)
        return PostgresMessage("E", body)
    }

    /// The code and the text of an ErrorResponse. A code of another form is told as `08P01`, which stands for a
    /// violation of the protocol.
    package var failure: (code: String, text: String) {
        var reader = PostgresReader(body)
        var fields: [UInt8: String] = [:]
        while let kind = reader.byte(), kind != 0, let text = reader.text() { fields[kind] = text }
        let code = fields[UInt8(ascii: "C")] ?? ""
        let isCode =
            code.utf8.count == 5
            && code.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) }
        return (isCode ? code : "08P01", fields[UInt8(ascii: "M")] ?? "no reason")
    }

    // MARK: To the server

    /// SSLRequest.
    package static let tlsRequest = bytes(8) + bytes(80_877_103)

    /// CancelRequest.
    ///
    /// - Parameter key: The number of the session and its key.
    package static func cancelRequest(_ key: [UInt8]) -> [UInt8] {
        bytes(UInt32(clamping: key.count + 8)) + bytes(80_877_102) + key
    }

    /// StartupMessage of version 3.0.
    package static func startup(_ parameters: [PostgresParameter]) -> [UInt8] {
        var body = bytes(3 << 16)
        for parameter in parameters {
            append(parameter.name, to: &body)
            append(parameter.value, to: &body)
        }
        body.append(0)
        return bytes(UInt32(clamping: body.count + 4)) + body
    }

    /// SASLInitialResponse.
    package static func saslBegin(_ mechanism: String, _ first: [UInt8]) -> PostgresMessage {
        var body: [UInt8] = []
        append(mechanism, to: &body)
        body += bytes(UInt32(clamping: first.count))
        body += first
        return PostgresMessage("p", body)
    }

    /// SASLResponse.
    package static func saslAnswer(_ answer: [UInt8]) -> PostgresMessage { PostgresMessage("p", answer) }

    // MARK: From the server

    /// How a server wants to know who logs in.
    package enum Authentication: Sendable, Equatable {
        case ok, password
        case sasl([String])
        case saslNext([UInt8])
        case saslLast([UInt8])
        /// One that the broker does not know, such as `md5`.
        case other(String)
    }

    /// What a message of the type `R` says; nil for a malformed one.
    package var authentication: Authentication? {
        guard type == UInt8(ascii: "R"), body.count >= 4 else { return nil }
        let rest = Array(body.dropFirst(4))
        switch Self.number(body.prefix(4)) {
        case 0: return rest.isEmpty ? .ok : nil
        case 3: return rest.isEmpty ? .password : nil
        case 5: return .other("md5")
        case 7, 8: return .other("GSSAPI")
        case 9: return .other("SSPI")
        case 10:
            var reader = PostgresReader(rest)
            var mechanisms: [String] = []
            while let name = reader.text(), !name.isEmpty { mechanisms.append(name) }
            return .sasl(mechanisms)
        case 11: return .saslNext(rest)
        case 12: return .saslLast(rest)
        default: return .other("a way of its own")
        }
    }
}

/// Reads the parts of a message.
private struct PostgresReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() -> UInt8? { rest.popFirst() }

    /// Reads a text with a NUL at its end. Nil if there is none, or if it is not UTF-8.
    mutating func text() -> String? {
        guard let end = rest.firstIndex(of: 0) else { return nil }
        defer { rest = rest[(end + 1)...] }
        return String(validating: rest[..<end], as: UTF8.self)
    }
}
