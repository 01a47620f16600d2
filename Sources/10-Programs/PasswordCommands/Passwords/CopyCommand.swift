import ArgumentParser
import Bytes
import CLibrary
import CommandKit
import Crypto
import FoundationEssentials
import KeychainModel
import StatusCodes
import VaultInterface

/// Puts a secret on the clipboard.
struct CopyCommand: DocumentedCommand {
    static let summary = "Put a secret, or a one-time code, on the clipboard for half a minute."
    static let details = """
        The clipboard is that of Wayland (wl-copy), of X11 (xclip or xsel), tmux's buffer, or that of the terminal, \
        also over ssh (OSC 52). After the time it is emptied, if the secret is still what is in it. Nobody can ask a \
        terminal what its clipboard has, so there the secret stays until you copy something else.

        Other programs of the session can read a clipboard, and some keep a history of it. `keychain run` hands a \
        secret to one program alone.
        """
    static let examples = [
        Example("For a form", "keychain copy mail.example.com alice"),
        Example("The one-time code that it asks for next", "keychain copy mail.example.com --otp"),
        Example("For longer", "keychain copy bank alice --seconds 120"),
    ]
    static let configuration: CommandConfiguration = documented("copy", aliases: ["cp"])

    @OptionGroup var choice: PasswordChoice
    @OptionGroup var itemPassword: ItemPassword

    @Flag(help: "Copy the one-time code of this site.")
    var otp = false

    @Option(help: ArgumentHelp("When the clipboard is emptied; 0 for never.", valueName: "number"))
    var seconds = 30

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var clipboard: Clipboard
        /// When it is emptied; nil if it is not.
        var seconds: Int?
    }

    func validate() throws {
        guard (0...86_400).contains(seconds) else { throw ValidationError("--seconds takes 0 to 86400") }
    }

    func run() throws {
        let copied = try CopiedSecret(seconds: seconds, secret)
        if json {
            return try StandardOutput.write(json: Answer(clipboard: copied.clipboard, seconds: copied.seconds))
        }
        CommandNote.show(copied.sentence)
    }

    private func secret() throws -> Data {
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        if otp {
            guard let site = choice.service else { throw ValidationError("--otp goes with the name of a site") }
            let source = OneTimeSource(
                site: site, account: choice.account, scope: choice.scope, itemPassword: itemPassword)
            return Data(try source.next(session).code.utf8)
        }
        guard let secret = try choice.search(passcode, itemPassword).one(in: session, includingValues: true).value,
            !secret.isEmpty
        else {
            throw Failure(status: errSecItemNotFound, "the item holds no secret: store one with `keychain set`")
        }
        return .wipedWhenFreed(secret)
    }
}

/// Empties the clipboard after a while, in a process of its own, which does not have the secret.
struct ClipboardWatch: Codable {
    private let clipboard: Clipboard
    private let seconds: Int
    private let key: Data
    /// HMAC-SHA256 of the secret.
    private let code: Data

    init(_ clipboard: Clipboard, _ secret: Data, seconds: Int) {
        let key = [UInt8].random(count: 32)
        (self.clipboard, self.seconds, self.key) = (clipboard, seconds, Data(key))
        code = Data(HMAC<SHA256>.authenticationCode(for: secret, using: SymmetricKey(data: key)))
    }

    /// - Returns: False if there is no process for it.
    func start() -> Bool {
        guard let message = try? JSONEncoder().encode(self) else { return false }
        return ToolProcess.startThisProgram([ClipboardCommand.name], input: message)
    }

    func wait() {
        let end = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < end { usleep(200_000) }
        guard let contents = clipboard.contents() else { return }
        if HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: contents, using: SymmetricKey(data: key)) {
            clipboard.clear()
        }
    }
}

/// The process that empties the clipboard. Hidden: `keychain copy` starts it.
struct ClipboardCommand: DocumentedCommand {
    static let name = "empty-clipboard"
    static let summary = "Empty the clipboard after a while, if it still has what `keychain copy` put there."
    static let details = "What to wait for comes on standard input."
    static let examples: [Example] = []
    static let configuration: CommandConfiguration = documented(name, shouldDisplay: false)

    func run() throws {
        let message = try SecretInput.readAll(0, keepingNewline: true)
        guard let watch = try? JSONDecoder().decode(ClipboardWatch.self, from: message) else {
            throw Failure.usage("this is a part of `keychain copy`")
        }
        watch.wait()
    }
}
