import ArgumentParser
import CommandKit
import Presence
import StatusCodes

/// The program that a browser starts for the extension: `keychain` under another name.
package enum BrowserHost {
    package static let program = "keychain-browser"

    /// The extension in Firefox, and in browsers that are made from Chromium: from Chrome's store and from Edge's.
    static let extensions = [
        "keepassxc-browser@keepassxc.org", "chrome-extension://oboonakemofpalcgghocfoadofidjkkk/",
        "chrome-extension://pdffhmdngciaglkoonimfcmckehcpafo/",
    ]

    /// - Parameter arguments: Without the program's name: Firefox gives the path of the manifest and the extension,
    ///   others give the extension.
    /// - Returns: The exit status.
    package static func run(_ arguments: [String]) -> Int32 {
        do {
            try serve(arguments)
            return 0
        } catch {
            return Failure(error).report(asJSON: false)
        }
    }

    static func serve(_ arguments: [String]) throws {
        guard arguments.contains(where: extensions.contains) else {
            throw Failure.usage(
                "a browser starts this program for the extension KeePassXC-Browser: `keychain integrate firefox` and "
                    + "the like set it up")
        }
        let prompt = BrowserPrompt(PinentryPrompt())
        let conversation = HostConversation(
            prompt: prompt, output: HostOutput(1), browser: BrowserName.ofParent ?? "browser")
        defer { conversation.end() }
        conversation.watchPresentVault()
        while let message = try HostMessages.read(0) { try conversation.take(message) }
    }
}

/// Serves the extension, as `keychain-browser` does.
struct HostCommand: DocumentedCommand {
    static let summary = "Give logins to a browser, which starts this."
    static let details = """
        Browsers start this program under the name `keychain-browser`, for the extension KeePassXC-Browser. `keychain \
        integrate` tells the browser where it is.
        """
    static let examples = [Example("Set it up", "keychain integrate firefox")]
    static let configuration: CommandConfiguration = documented("browser-host", shouldDisplay: false)

    @Argument(help: "What the browser says: the path of the manifest, and the extension.")
    var arguments: [String] = []

    func run() throws { try BrowserHost.serve(arguments) }
}
