import ArgumentParser
import CommandKit
import FoundationEssentials
import KeychainModel
import StatusCodes
import VaultInterface

/// The command `browser` and its subcommands.
struct BrowserCommand: DocumentedCommand {
    static let summary = "See and forget the browsers that get logins from the keychain."
    static let details = """
        Browsers get logins through the extension KeePassXC-Browser: `keychain integrate firefox` sets it up, and the \
        extension's button Connect makes the keychain ask you. The keychain then knows the browser by a name. For the \
        first login of a site it asks again.

        Each browser is an item of its own, `browser-association/NAME`.
        """
    static let examples = [
        Example("Which browsers get logins, and of how many sites", "keychain browser list"),
        Example("A browser is to get none any more", "keychain browser forget firefox"),
        Example(
            "Ask again for a site", "keychain browser forget firefox --site https://example.org"),
    ]
    static let configuration: CommandConfiguration = documented(
        "browser", subcommands: [ListBrowsersCommand.self, ForgetBrowserCommand.self])
}

struct ListBrowsersCommand: DocumentedCommand {
    static let summary = "List the browsers that get logins."
    static let details = """
        Prints the name of each browser, the program, when it was connected, and the number of the sites whose logins \
        it may have. With a name, prints these sites.
        """
    static let examples = [
        Example("All browsers", "keychain browser list"), Example("The sites of one", "keychain browser list firefox"),
    ]
    static let configuration: CommandConfiguration = documented("list")

    @Argument(help: "A browser, by its name.")
    var name: String?

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    private struct Row: Encodable {
        var name: String
        var browser: String
        var connected: String
        var sites: [String]
    }

    func run() throws {
        let associations = try Associations(.ofOwnerInPresentVault(passcode))
        var found = try associations.all()
        if let name {
            found = found.filter { $0.name == name }
            guard !found.isEmpty else { throw Self.unknown(name) }
        }
        let rows = found.map {
            Row(
                name: $0.name, browser: $0.association.browser, connected: Timestamp($0.item.creationDate).iso8601,
                sites: $0.association.sites)
        }
        if json { return try StandardOutput.write(json: rows) }
        if name != nil {
            for site in rows.flatMap(\.sites) { try StandardOutput.write(line: site.escapedForTerminal) }
            return
        }
        guard !rows.isEmpty else { return }
        try StandardOutput.write(
            Table(
                rows.map {
                    [$0.name.escapedForTerminal, $0.browser.escapedForTerminal, $0.connected, "\($0.sites.count)"]
                }, heads: ["name", "program", "connected", "sites"]))
    }

    static func unknown(_ name: String) -> Failure {
        Failure(
            status: errSecItemNotFound,
            "no browser has the name '\(name.escapedForTerminal)': `keychain browser list` shows what there is")
    }
}

struct ForgetBrowserCommand: DocumentedCommand {
    static let summary = "Forget a browser, so that it gets no logins any more."
    static let details = """
        The browser can be connected again, with the extension's button Connect. With --site, only what was allowed for \
        that site is forgotten, and the keychain asks again for its next login.
        """
    static let examples = [
        Example("Forget a browser", "keychain browser forget firefox"),
        Example("Ask again for a site", "keychain browser forget firefox --site https://example.org"),
    ]
    static let configuration: CommandConfiguration = documented("forget")

    @Argument(help: "The browser, by its name.")
    var name: String

    @Option(help: ArgumentHelp("Forget only this site, as `keychain browser list NAME` shows it.", valueName: "site"))
    var site: String?

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .jsonErrors)
    var json = false

    func run() throws {
        let associations = try Associations(.ofOwnerInPresentVault(passcode))
        guard var found = try associations.named(name) else { throw ListBrowsersCommand.unknown(name) }
        guard let site else { return try associations.delete(found) }
        guard let index = found.association.sites.firstIndex(of: site) else {
            throw Failure(
                status: errSecItemNotFound,
                "'\(name.escapedForTerminal)' may have no logins of '\(site.escapedForTerminal)': "
                    + "`keychain browser list \(name.escapedForTerminal)` shows the sites")
        }
        found.association.sites.remove(at: index)
        try associations.store(found.association, as: name)
    }
}
