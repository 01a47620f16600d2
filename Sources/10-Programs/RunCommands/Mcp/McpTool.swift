import Bytes
import CommandKit
import FoundationEssentials
import StatusCodes

/// Something that an agent can do.
protocol McpTool: Sendable {
    static var name: String { get }
    /// What an agent reads: its title, its description, its arguments as a JSON Schema, and hints.
    static var description: [String: JSONValue] { get }
    /// - Throws: What the agent is told, in words for people.
    func run(_ arguments: McpArguments, _ call: McpCall) throws -> McpResult
}

extension McpTool {
    /// The entry in the list of tools.
    static var entry: JSONValue { .object(description.merging(["name": .string(name)]) { mine, _ in mine }) }
}

/// What an agent gets from a tool.
struct McpResult: Sendable {
    /// Texts, in their order.
    var texts: [String]
    var isError = false

    /// As the protocol has it.
    var json: JSONValue {
        [
            "content": .array(texts.map { ["type": "text", "text": .string($0)] }),
            "isError": .bool(isError),
        ]
    }

    static func failed(_ error: any Error) -> McpResult {
        McpResult(texts: [Failure(error).message], isError: true)
    }
}

/// The arguments of a call, by their names.
struct McpArguments {
    private let members: [String: JSONValue]

    /// - Parameter names: Those that the tool knows. An agent is told of others, because it may mean something by them.
    init(_ members: [String: JSONValue], known names: [String]) throws(Failure) {
        if let other = members.keys.sorted().first(where: { !names.contains($0) }) {
            throw Self.wrong("there is no argument '\(other.escapedForTerminal)': use \(names.joined(separator: ", "))")
        }
        self.members = members.filter { $0.value != .null }
    }

    static func wrong(_ reason: String) -> Failure { Failure(status: errSecParam, reason) }

    func text(_ name: String) throws(Failure) -> String? {
        guard let value = members[name] else { return nil }
        guard let text = value.string else { throw Self.wrong("'\(name)' takes text") }
        return text
    }

    func requiredText(_ name: String) throws(Failure) -> String {
        guard let text = try text(name), !text.isEmpty else { throw Self.wrong("'\(name)' is missing") }
        return text
    }

    func number(_ name: String, in range: ClosedRange<Int>) throws(Failure) -> Int? {
        guard let value = members[name] else { return nil }
        guard case .integer(let number) = value, range.contains(Int(clamping: number)) else {
            throw Self.wrong("'\(name)' takes a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return Int(clamping: number)
    }

    func flag(_ name: String) throws(Failure) -> Bool {
        guard let value = members[name] else { return false }
        guard case .bool(let flag) = value else { throw Self.wrong("'\(name)' takes true or false") }
        return flag
    }

    func object(_ name: String) throws(Failure) -> [String: JSONValue]? {
        guard let value = members[name] else { return nil }
        guard let object = value.members else { throw Self.wrong("'\(name)' takes an object") }
        return object
    }
}
