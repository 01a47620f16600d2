import Access
import Bytes
import CommandKit
import FoundationEssentials
import KeychainModel
import PasswordGeneration
import StatusCodes
import StoredKeys
import VaultInterface

/// `create_password`: a new password that goes into the vault unseen.
struct CreateTool: McpTool {
    static let name = "create_password"

    static let description: [String: JSONValue] = [
        "title": "New password",
        "description": """
        Makes up a password and stores it in the keychain under a new name. The password is not shown, and an item \
        that is there is never replaced. Without arguments for the kind, it has \(usualLength) letters, digits and \
        symbols.
        """,
        "inputSchema": [
            "type": "object", "additionalProperties": false, "required": ["service", "account"],
            "properties": [
                "service": ["type": "string", "description": "What the password is for, such as a host or a program."],
                "account": ["type": "string", "description": "Whose password it is."],
                "length": [
                    "type": "integer", "minimum": .integer(Int64(shortest)), "maximum": 1024,
                    "description": "How many characters.",
                ],
                "no_symbols": ["type": "boolean", "description": "Letters and digits only."],
                "words": [
                    "type": "integer", "minimum": .integer(Int64(fewestWords)), "maximum": 64,
                    "description": "A passphrase of this many words, instead of characters.",
                ],
                "comment": ["type": "string", "description": "A remark for people, which is stored with it."],
            ],
        ],
        "annotations": [
            "readOnlyHint": false, "destructiveHint": false, "idempotentHint": false, "openWorldHint": false,
        ],
    ]

    private static let usualLength = 20
    /// About 78 bits without symbols, and 64 bits in words: an agent that makes a password so weak that it can be
    /// guessed would know it.
    private static let shortest = 12
    private static let fewestWords = 5
    /// Of names and remarks, in bytes.
    private static let longestText = 1_024

    let items: AgentItems

    func run(_ arguments: McpArguments, _ call: McpCall) throws -> McpResult {
        let service = try arguments.requiredText("service")
        let account = try arguments.requiredText("account")
        let comment = try arguments.text("comment")
        guard [service, account, comment ?? ""].allSatisfy({ $0.utf8.count <= Self.longestText }) else {
            throw McpArguments.wrong("names and remarks have at most \(Self.longestText) bytes")
        }
        let recipe = try Self.recipe(arguments)
        if let purpose = KeyPurpose(service: service) {
            throw purpose.replacementRefusal("'\(service.escapedForTerminal)'")
        }
        if items.group == nil { try OtherTool.refuseUnknownCopy() }
        let session = try items.session(true)
        guard try !isThere(service, account, session) else { throw Self.exists }
        var attributes: ItemAttributes = [.service: .string(service), .account: .string(account)]
        attributes[.comment] = comment.map { .string($0) }
        let item = NewItem(
            itemClass: .genericPassword, attributes: attributes,
            accessGroup: try items.group ?? OtherTool.groupForNewItem, value: Data(try recipe.password().utf8))
        let stored = try Self.add(item, session)
        return McpResult(texts: [
            "a new password is stored in the group '\(stored.accessGroup.escapedForTerminal)'; nobody has seen it"
        ])
    }

    private static func add(_ item: NewItem, _ session: VaultSession) throws -> StoredItem {
        do {
            return try session.perform(AddItem(item))
        } catch {
            guard error == .duplicateItem else { throw error }
            throw exists
        }
    }

    private static let exists = Failure(
        status: errSecDuplicateItem, "an item has this name already, and was not changed: choose another name")

    /// Whether an item in any group has the name, expired and guarded ones included: with two of them, programs that
    /// name no group would find neither.
    private func isThere(_ service: String, _ account: String, _ session: VaultSession) throws -> Bool {
        var query = ItemQuery(
            itemClass: .genericPassword, attributes: [.service: .string(service), .account: .string(account)],
            synchronizable: .any)
        query.reports = [.guarded, .withheld]
        query.includesExpired = true
        query.authentication = AuthenticationOptions(interaction: .skip)
        var others = 0
        do {
            let found = try session.perform(CopyItems(query, includingValues: false)) { part in
                switch part {
                case .guarded, .withheld: others += 1
                default: break
                }
            }
            return !found.isEmpty || others > 0
        } catch {
            guard error == .itemNotFound else { throw error }
            return others > 0
        }
    }

    private static func recipe(_ arguments: McpArguments) throws -> PasswordRecipe {
        let length = try arguments.number("length", in: shortest...1_024)
        let isPlain = try arguments.flag("no_symbols")
        if let words = try arguments.number("words", in: fewestWords...64) {
            guard length == nil, !isPlain else {
                throw McpArguments.wrong("'words' excludes 'length' and 'no_symbols'")
            }
            return .words(words)
        }
        return .characters(
            length ?? usualLength, isPlain ? [.small, .capitals, .digits] : Set(PasswordRecipe.Kind.allCases))
    }
}
