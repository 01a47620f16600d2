import Foundation
import Glibc
import Testing

/// A person at a terminal, with the daemon at work.
///
/// A session is a file: `$ ` starts a command, `? ` a prompt that is waited for, `> ` what is then typed without
/// being shown, and every other line is waited for as output.
@Suite struct TerminalSessionTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/Sessions"

    @Test(arguments: ["presence", "agent", "transfer"])
    func session(_ name: String) throws {
        let workplace = try Workplace()
        let text = try String(contentsOfFile: "\(Self.folder)/\(name).txt", encoding: .utf8)
        let terminal = try Pseudoterminal(workplace, ["/bin/sh"])
        // A session says what is shown, and not in which colour.
        terminal.type("PS1='ready> '; cd \"$HOME\"; export KEYCHAIN_SOCKET=$HOME/run/socket NO_COLOR=1\n")
        try terminal.expect("ready> ")
        terminal.type(
            "keychaind --socket $KEYCHAIN_SOCKET --home \(workplace.home) --entitlements $HOME/none.json "
                + "--no-lock-signals 2>$HOME/log & trap 'kill $!' EXIT\n")
        try terminal.expect("ready> ")
        terminal.type("until keychain status >/dev/null 2>&1; do sleep 0.1; done\n")
        for line in text.split(separator: "\n").drop(while: { !$0.hasPrefix("$ ") }) where !line.hasPrefix("#") {
            let rest = String(line.dropFirst(2))
            switch line.prefix(2) {
            case "$ ":
                // A prompt throws away what was typed before it was answered.
                try terminal.expect("ready> ")
                terminal.type(rest + "\n")
                // The shell shows what was typed.
                try terminal.expect(rest)
            case "? ":
                try terminal.expect(rest)
                try terminal.waitUntilSilent()
            case "> ": terminal.type(rest + "\n")
            default: try terminal.expect(String(line))
            }
        }
        try terminal.expect("ready> ")
        terminal.type("exit\n")
        #expect(try terminal.finish() == 0)
        for secret in ["swordfish", "herring"] { #expect(!terminal.screen.contains(secret)) }
    }
}
