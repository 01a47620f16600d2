import Bytes
import CommandKit

/// `error`: what status codes mean. Like on macOS, the exit status is 1.
struct ExplainErrors: SecuritySubcommand {
    let grammar = ShortOptions.Grammar(flags: "h")
    let usage = "code ..."

    func run(_ options: ShortOptions, _ tool: SecurityTool) throws {
        throw SecurityFailure.usage("name a code")
    }

    /// Codes may be negative, so they are no options.
    static func show(_ codes: [String], _ tool: SecurityTool) throws {
        for text in codes {
            guard let code = code(text) else {
                throw SecurityFailure.usage("'\(text.escapedForTerminal)' is no code: give a number of 32 bits")
            }
            let digits = String(UInt32(bitPattern: code), radix: 16, uppercase: true)
            let hexadecimal = String(repeating: "0", count: max(0, 8 - digits.count)) + digits
            try tool.print("Error: 0x\(hexadecimal) \(code) \(SecurityWords.text(for: code))")
        }
        throw SecurityFailure.reported
    }

    private static func code(_ text: String) -> Int32? {
        let isNegative = text.hasPrefix("-")
        let digits = isNegative ? text.dropFirst() : text[...]
        let isHexadecimal = digits.lowercased().hasPrefix("0x")
        guard let number = isHexadecimal ? UInt32(digits.dropFirst(2), radix: 16) : UInt32(digits) else { return nil }
        return isNegative ? Int32(exactly: -Int64(clamping: number)) : Int32(bitPattern: number)
    }
}

/// `set-…-partition-list`: which programs may use an item. Here access groups and entitlements say that.
struct PartitionList: SecuritySubcommand {
    static let summary = "Accepted for scripts; entitlements do this here."

    /// The letters with a value, besides those of the list and the password.
    let letters: String
    var flags = ""

    var grammar: ShortOptions.Grammar { ShortOptions.Grammar(flags: flags + "h", values: letters + "kS") }
    var usage: String { "-S partition,... -k password [-\(letters) value] ... [keychain]" }

    func run(_ options: ShortOptions, _ tool: SecurityTool) throws {
        guard options.contains("S") else { throw SecurityFailure.usage("-S is needed") }
        // A keychain that is missing is a mistake here as well.
        for name in options.operands { _ = try tool.place(name) }
        tool.complain("no partition list was set: entitlements say here which programs may use an item")
    }
}
