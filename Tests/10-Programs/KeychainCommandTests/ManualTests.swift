import Foundation
import TestSupport
import Testing

@Suite struct ManualTests {
    @Test func everySubcommandHasAPageWithAllItsOptions() throws {
        let workplace = try Workplace()
        let outcome = try workplace.run(["keychain", "manual", "--directory", workplace.path])
        #expect(outcome.status == 0, Comment(rawValue: outcome.errors))
        let commands = [
            "init", "recovery", "set", "get", "list", "info", "delete", "key", "import", "export", "run", "ssh-agent",
            "status", "audit",
            "erase", "rekey", "security",
        ]
        let nested = [
            "create", "list", "public", "sign", "verify", "encrypt", "decrypt", "csr", "attest", "verify-attestation",
            "uri",
            "pem", "delete",
        ].map { "key " + $0 }
        let databases = [
            "create", "encrypt", "decrypt", "rekey", "set-class", "info", "verify", "shell", "export", "import",
            "keep-key",
        ].map { "db " + $0 }
        for command in commands + nested + databases + ["db", "passcode set"] {
            let name = command.replacing(" ", with: "-")
            let page = try String(contentsOfFile: "\(workplace.path)/keychain-\(name).1", encoding: .utf8)
            let help = try workplace.run(["keychain", "help"] + command.split(separator: " ").map(String.init)).text
            for option in help.matches(of: /--[a-z][a-z-]+/).map(\.output)
            where !["--version", "--help"].contains(option) {
                let escaped = option.dropFirst().replacing("-", with: "\\-")
                #expect(page.contains(escaped), "\(command) \(option)")
            }
            for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "ENVIRONMENT", "EXAMPLES", "SEE ALSO"] {
                #expect(page.contains("\n.Sh \(section)\n"), "\(command) has no \(section)")
            }
        }
        let keys = try String(contentsOfFile: workplace.path + "/keychain-key.1", encoding: .utf8)
        #expect(keys.contains(".Xr keychain\\-key\\-csr 1"))
        let main = try String(contentsOfFile: workplace.path + "/keychain.1", encoding: .utf8)
        #expect(commands.allSatisfy { main.contains(".It Cm \($0.replacing("-", with: "\\-"))\n") })
        #expect(!main.contains(".It Cm manual"))
    }

    @Test(arguments: ["keychaind", "keychain-sync"]) func otherProgramsHavePagesWithAllOptions(program: String) throws {
        let workplace = try Workplace()
        let made = try workplace.shell(
            "\(program) --experimental-dump-help | keychain manual --directory . --daemon-help; \(program) --help")
        #expect(made.status == 0, Comment(rawValue: made.errors))
        let page = try String(contentsOfFile: "\(workplace.path)/\(program).8", encoding: .utf8)
        let options = made.text.matches(of: /--[a-z][a-z-]+/).map(\.output).filter { $0 != "--help" }
        #expect(options.count > 8)
        for option in options { #expect(page.contains(option.dropFirst().replacing("-", with: "\\-")), "\(option)") }
        for section in [
            "NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES", "SEE ALSO",
        ] {
            #expect(page.contains("\n.Sh \(section)\n"), "no \(section)")
        }
        let refused = try workplace.run(["keychain", "manual", "--daemon-help"], input: Data("{}".utf8))
        #expect(refused.status == 1)
        #expect(refused.errors.contains("is not what"))
    }

    /// Help is wrapped at the terminal's width, and a command that is wrapped there breaks when it is pasted.
    @Test func noExampleIsWrapped() throws {
        let dump = try Workplace().run(["keychain", "--experimental-dump-help"])
        let examples = try JSONDecoder().decode(Dump.self, from: Data(dump.text.utf8)).command.examples
        #expect(examples.count >= 40)
        for example in examples {
            let lines = example.split(separator: "\n")
            #expect(lines.allSatisfy { $0.count <= 78 }, "\(example)")
        }
    }

    private struct Dump: Decodable {
        struct Command: Decodable {
            var discussion: String?
            var subcommands: [Command]?

            /// Of this command and those below it, as they stand in the help.
            var examples: [String] {
                let own = discussion?.components(separatedBy: "EXAMPLES:\n").dropFirst().first?
                    .components(separatedBy: "\n\nEXIT STATUS:").first
                return [own].compactMap { $0 } + (subcommands ?? []).flatMap(\.examples)
            }
        }

        var command: Command
    }

    @Test func folderThatIsNotThereIsNamed() throws {
        let outcome = try Workplace().run(["keychain", "manual", "--directory", "/nowhere"])
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("/nowhere/keychain.1 cannot be written (No such file or directory)"))
    }
}
