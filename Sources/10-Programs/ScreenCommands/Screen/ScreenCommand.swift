import ArgumentParser
import CommandKit

/// Shows the vault on the whole screen.
struct ScreenCommand: DocumentedCommand {
    static let summary = "Look through the passwords on the whole screen of a terminal."
    static let details = """
        A list of the passwords, with arrows, page keys, or the keys of vi. '/' searches while you type, Enter shows \
        what is known about a password, 'r' its secret for 15 seconds, 'o' its one-time code, and 'c' copies what \
        'keychain copy' copies. 'l' locks and 'u' unlocks the vault, 'a' shows the last audit records, '?' all keys, \
        and 'q' leaves. What other programs change appears by itself.

        It runs in each terminal that can place its cursor, also in tmux and over ssh. Passcodes are asked for on the \
        normal screen. What was shown is overwritten before the program ends, and the scrollback has nothing of it.

        In a locked vault, the list has what the lock does not hide. Without keychaind, 'u' unlocks the vault for this \
        program alone, until it ends.
        """
    static let examples = [
        Example("Look around", "keychain ui"),
        Example("Without colours", "NO_COLOR=1 keychain ui"),
    ]
    static let configuration: CommandConfiguration = documented("ui")

    @Option(help: ArgumentHelp("When the clipboard is emptied after 'c'; 0 for never.", valueName: "number"))
    var seconds = 30

    @Flag(help: .hidden)
    var json = false

    func validate() throws {
        guard (0...86_400).contains(seconds) else { throw ValidationError("--seconds takes 0 to 86400") }
    }

    func run() throws {
        guard !json else {
            throw Failure.usage("a screen is not JSON: `keychain list --json` has what scripts need")
        }
        try ScreenSession.run(copyingFor: seconds)
    }
}
