import ArgumentParser
import Testing

@testable import KeychainCommand

@Suite struct SubcommandTests {
    @Test func everySubcommandIsFoundByItsNames() {
        let subcommands = KeychainTool.configuration.subcommands
        #expect(subcommands.count > 20)
        for subcommand in subcommands {
            let configuration = subcommand.configuration
            for name in [configuration.commandName ?? ""] + configuration.aliases {
                let found = KeychainTool.subcommand(named: name)
                #expect(found.map { ObjectIdentifier($0) } == ObjectIdentifier(subcommand), "\(name)")
            }
        }
        #expect(KeychainTool.subcommand(named: "help") == nil)
        #expect(KeychainTool.subcommand(named: "") == nil)
    }
}
