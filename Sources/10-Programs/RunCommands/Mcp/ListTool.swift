import Access
import Broker
import Bytes
import CommandKit
import FoundationEssentials
import KeychainModel
import VaultInterface

/// `list_secrets`: names, and never values.
struct ListTool: McpTool {
    static let name = "list_secrets"

    static let description: [String: JSONValue] = [
        "title": "Names of secrets",
        "description": """
        Lists the secrets that `http_request` can use: the placeholder of each, its servers, the methods and the \
        places where it may stand. If the owner of the keychain allows it, it lists the names of the other items, \
        too. It never shows a value.
        """,
        "inputSchema": ["type": "object", "additionalProperties": false, "properties": [:]],
        "annotations": ["readOnlyHint": true, "openWorldHint": false],
    ]

    let rules: [BrokerRule]
    /// The items whose names it shows; nil if the owner does not say so.
    let items: AgentItems?

    private struct Rule: Encodable {
        var name: String
        var placeholder: String
        var servers: [String]
        var places: [String]
        /// Nil for all.
        var methods: [String]?
        /// How many requests get it, from the start of this server on; nil for any number.
        var times: Int?
        var until: String?
        /// Whether a person is asked before the first use.
        var asks: Bool
    }

    private struct Item: Encodable {
        var service: AttributeText?
        var account: AttributeText?
        var group: String
    }

    private struct Names: Encodable {
        var secrets: [Rule]
        var items: [Item]?
    }

    func run(_ arguments: McpArguments, _ call: McpCall) throws -> McpResult {
        let names = Names(
            secrets: rules.map(Self.rule),
            items: try items?.list().map {
                Item(
                    service: $0.attribute(.service).map(AttributeText.init),
                    account: $0.attribute(.account).map(AttributeText.init), group: $0.accessGroup)
            })
        return McpResult(texts: [try JSON.string(names)])
    }

    private static func rule(_ rule: BrokerRule) -> Rule {
        Rule(
            name: rule.variable, placeholder: BrokerCalls.placeholder(rule.variable),
            servers: rule.destinations.map { server in
                let host = server.urlHost
                let port = server.port == (server.isSecure ? 443 : 80) ? "" : ":\(server.port)"
                return "\(server.isSecure ? "https" : "http")://\(host)\(port)\(server.path ?? "/*")"
            },
            places: rule.places.map(\.name), methods: rule.methods.isEmpty ? nil : rule.methods, times: rule.times,
            until: rule.until.map { Timestamp($0).iso8601 }, asks: rule.isAsking)
    }
}

/// Items of the vault for an agent.
struct AgentItems: Sendable {
    /// The only group of items that it sees and makes; nil for the groups of the owner's tool.
    var group: String?
    /// Opens the vault, and makes one first if there is none and it is told to.
    var session: @Sendable (_ makesVault: Bool) throws -> VaultSession

    /// The passwords, without values. Nobody is asked: the names of items that need a person need nobody.
    func list() throws -> [StoredItem] {
        var query = ItemQuery(itemClass: .genericPassword, accessGroup: group, synchronizable: .any)
        query.reports = [.guarded]
        query.authentication = AuthenticationOptions(interaction: .skip)
        var guarded: [StoredItem] = []
        let session = try session(false)
        do {
            let found = try session.perform(CopyItems(query, includingValues: false)) { part in
                if case .guarded(let item) = part { guarded.append(item) }
            }
            return found + guarded
        } catch {
            guard error == .itemNotFound else { throw error }
            return guarded
        }
    }
}
