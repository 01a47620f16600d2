import ArgumentParser
import CLibrary
import CommandKit
import FoundationEssentials
import StatusCodes

/// Writes the manual pages. Hidden: it is for those who package the program.
struct ManualCommand: DocumentedCommand {
    static let summary = "Write the manual pages into a folder."
    static let details = """
        The pages are made from the help of the commands. With --daemon-help, only the page of keychaind or \
        keychain-sync is written, from the help that this program prints.
        """
    static let examples = [
        Example("Before packaging", "keychain manual --directory share/man/man1"),
        Example(
            "And for the daemon",
            #"""
            keychaind --experimental-dump-help |
                keychain manual --directory share/man/man8 --daemon-help
            """#),
    ]
    static let configuration: CommandConfiguration = documented("manual", shouldDisplay: false)

    @Option(help: ArgumentHelp("The folder, which has to exist.", valueName: "folder"), completion: .directory)
    var directory = "."

    @Flag(
        name: .customLong("daemon-help"),
        help: "Read the help of keychaind or keychain-sync from standard input, as --experimental-dump-help prints it.")
    var readsDaemonHelp = false

    func run() throws {
        for page in try readsDaemonHelp ? [daemonPage()] : pages() {
            try write(page.source, to: "\(directory)/\(page.fileName)")
        }
    }

    private func daemonPage() throws -> ManualPage {
        guard let help = try? DescriptorReader.readAll(0, limit: 1 << 20),
            let tree = try? JSONDecoder().decode(HelpTree.self, from: help),
            let page = ManualPage(daemon: tree.command)
        else {
            throw Failure(
                status: errSecParam, exitCode: ExitStatus.other,
                "standard input is not what `keychaind --experimental-dump-help` writes, or keychain-sync with this option"
            )
        }
        return page
    }

    private func pages() throws -> [ManualPage] {
        let root = try JSONDecoder().decode(HelpTree.self, from: Data(KeychainTool._dumpHelp().utf8)).command
        let names = root.visibleSubcommands.map { "keychain-\($0.commandName)" }
        let main = ManualPage(command: KeychainTool.self, help: root, path: ["keychain"], seeAlso: names)
        return [main] + pages(below: KeychainTool.self, root, path: ["keychain"])
    }

    /// The pages of the subcommands of a command, and of theirs.
    private func pages(
        below command: any DocumentedCommand.Type, _ help: HelpTree.Command, path: [String]
    ) -> [ManualPage] {
        let commands = command.configuration.subcommands.compactMap { $0 as? any DocumentedCommand.Type }
        return help.visibleSubcommands.flatMap { help -> [ManualPage] in
            guard let command = commands.first(where: { $0.configuration.commandName == help.commandName }) else {
                return []
            }
            let own = path + [help.commandName]
            let below = pages(below: command, help, path: own)
            let page = ManualPage(
                command: command, help: help, path: own,
                seeAlso: [path.joined(separator: "-")] + below.filter { $0.path.count == own.count + 1 }.map(\.name))
            return [page] + below
        }
    }

    private func write(_ text: String, to path: String) throws(Failure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw Failure(
                status: errSecIO, exitCode: ExitStatus.other,
                "\(path.escapedForTerminal) cannot be written (\(String(cString: strerror(errno)))): "
                    + "name a folder of yours with --directory")
        }
        defer { close(descriptor) }
        try FileOutput.write(Data(text.utf8), to: descriptor)
    }
}
