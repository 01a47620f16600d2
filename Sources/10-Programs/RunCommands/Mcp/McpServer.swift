import Bytes
import CLibrary
import CommandKit
import FoundationEssentials
import Synchronization

/// A server of the Model Context Protocol for the host of one agent: messages of JSON-RPC 2.0, one a line.
final class McpServer: Sendable {
    /// The revisions of the protocol, the newest first. For a server of tools they differ in batches alone.
    static let revisions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]
    private static let revisionWithBatches = "2025-03-26"

    private struct State {
        /// Nil before the host said which one it speaks.
        var revision: String?
        var calls: [JSONValue: McpCall] = [:]
    }

    private let tools: [any McpTool]
    private let version: String
    private let output: McpOutput
    private let calls = McpCalls()
    private let state = Mutex(State())
    /// Told the name of the host.
    private let greet: @Sendable (String) -> Void

    init(
        _ tools: [any McpTool], version: String, output: McpOutput,
        greet: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.tools = tools
        self.version = version
        self.output = output
        self.greet = greet
    }

    /// Takes one line of the host.
    func take(_ line: Data) {
        let answer = McpAnswer(output, of: 1, isBatch: false)
        guard let message = try? JSONDecoder().decode(JSONValue.self, from: line) else {
            return answer.take(McpError.parse.response(to: nil))
        }
        guard case .array(let batch) = message else { return take(message, answer) }
        guard state.withLock(\.revision) == Self.revisionWithBatches else {
            return answer.take(
                McpError.invalidRequest("this revision of the protocol has no batches").response(to: nil))
        }
        guard !batch.isEmpty else {
            return answer.take(McpError.invalidRequest("a batch has at least one message").response(to: nil))
        }
        let answers = McpAnswer(output, of: batch.count, isBatch: true)
        for message in batch { take(message, answers) }
    }

    /// Answers a line that is longer than those that are read.
    func refuseLongLine() {
        McpAnswer(output, of: 1, isBatch: false).take(McpError.tooLong.response(to: nil))
    }

    private func take(_ message: JSONValue, _ answer: McpAnswer) {
        let id = message["id"]
        let isNamed =
            switch id {
            case .string, .integer, .number: true
            default: false
            }
        let name = isNamed ? id : nil
        guard message["jsonrpc"] == "2.0" else {
            return answer.take(McpError.invalidRequest("this is no message of JSON-RPC 2.0").response(to: name))
        }
        guard let method = message["method"] else {
            // Nothing was asked of the host, so an answer of it means nothing.
            let isAnswer = message["result"] != nil || message["error"] != nil
            return answer.take(isAnswer ? nil : McpError.invalidRequest("it has no method").response(to: name))
        }
        guard let method = method.string, id == nil || isNamed else {
            return answer.take(
                McpError.invalidRequest("a method is text, and an id text or a number").response(to: name))
        }
        let given = message["params"]
        guard let id else {
            if method == "notifications/cancelled", let number = given?["requestId"] {
                state.withLock { $0.calls[number] }?.cancel()
            }
            return answer.take(nil)
        }
        guard given == nil || given?.members != nil else {
            return answer.take(McpError.invalidParameters("the parameters are an object").response(to: id))
        }
        do throws(McpError) {
            try perform(method, given?.members ?? [:], id, answer)
        } catch {
            answer.take(error.response(to: id))
        }
    }

    private func perform(
        _ method: String, _ parameters: [String: JSONValue], _ id: JSONValue, _ answer: McpAnswer
    ) throws(McpError) {
        func reply(_ result: JSONValue) { answer.take(["jsonrpc": "2.0", "id": id, "result": result]) }
        switch method {
        case "ping": return reply([:])
        case "initialize": return reply(try initialize(parameters))
        case "tools/list", "tools/call":
            guard state.withLock(\.revision) != nil else {
                throw .invalidRequest("the first request is 'initialize'")
            }
        default: throw .noMethod(method)
        }
        if method == "tools/list" {
            guard parameters["cursor"] ?? .null == .null else {
                throw .invalidParameters("there is no such cursor: the list has one page")
            }
            return reply(["tools": .array(tools.map { type(of: $0).entry })])
        }
        guard let name = parameters["name"]?.string, let tool = tools.first(where: { type(of: $0).name == name }) else {
            throw .invalidParameters("there is no such tool: 'tools/list' has them")
        }
        let given = parameters["arguments"] ?? .object([:])
        guard let arguments = given.members else { throw .invalidParameters("the arguments are an object") }
        try call(tool, arguments, id, answer)
    }

    private func initialize(_ parameters: [String: JSONValue]) throws(McpError) -> JSONValue {
        guard let wanted = parameters["protocolVersion"]?.string else {
            throw .invalidParameters("'protocolVersion' is missing")
        }
        // A host that speaks none of these ends the connection.
        let revision = Self.revisions.contains(wanted) ? wanted : Self.revisions[0]
        let isFirst = state.withLock { state in
            defer { state.revision = state.revision ?? revision }
            return state.revision == nil
        }
        guard isFirst else { throw .invalidRequest("the connection has begun already") }
        if let name = parameters["clientInfo"]?["name"]?.string { greet(name) }
        let calls = tools.map { "`\(type(of: $0).name)`" }.joined(separator: ", ")
        return [
            "protocolVersion": .string(revision), "capabilities": ["tools": [:]],
            "serverInfo": ["name": "keychain", "title": "Keychain", "version": .string(version)],
            "instructions": .string(
                "This server uses secrets for you and never shows one. Its tools are \(calls). Call `list_secrets` first: "
                    + "it says which secrets there are and where each may be used."),
        ]
    }

    private func call(
        _ tool: any McpTool, _ arguments: [String: JSONValue], _ id: JSONValue, _ answer: McpAnswer
    ) throws(McpError) {
        let call = McpCall()
        let isNew = state.withLock { state in
            guard state.calls[id] == nil else { return false }
            state.calls[id] = call
            return true
        }
        guard isNew else { throw .invalidRequest("a request with this id is still running") }
        let isStarted = calls.start { [self] in
            let result: McpResult?
            do {
                let known = type(of: tool).argumentNames
                result = call.isCancelled ? nil : try tool.run(McpArguments(arguments, known: known), call)
            } catch {
                result = .failed(error)
            }
            state.withLock { $0.calls[id] = nil }
            // Nobody waits for what was cancelled.
            guard let result, !call.isCancelled else { return answer.take(nil) }
            answer.take(["jsonrpc": "2.0", "id": id, "result": result.json])
        }
        guard !isStarted else { return }
        state.withLock { $0.calls[id] = nil }
        let result = McpResult(texts: ["too many calls are running: wait for some of them"], isError: true)
        answer.take(["jsonrpc": "2.0", "id": id, "result": result.json])
    }
}

extension McpTool {
    /// The names in the schema of the arguments.
    static var argumentNames: [String] { description["inputSchema"]?["properties"]?.members?.keys.sorted() ?? [] }
}
