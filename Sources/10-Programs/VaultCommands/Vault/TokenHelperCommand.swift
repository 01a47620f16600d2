import Access
import ArgumentParser
import CLibrary
import CommandKit
import Presence
import ProcessVault
import StatusCodes
import SystemLibraries
import Vault
import VaultInterface
import VaultService

/// Serves the vault in the folder to one program and its children, for as long as they run; or asks a person what a
/// daemon wants to know. Hidden: the PKCS #11 module starts it, which can do neither.
struct TokenHelperCommand: DocumentedCommand {
    static let name = "pkcs11-helper"
    static let summary = "Use the keys of the vault's folder for the PKCS #11 module, where no daemon runs."
    static let details = "The module starts it, and it ends with the program that loaded the module."
    static let examples: [Example] = []
    static let configuration: CommandConfiguration = documented(name, shouldDisplay: false)

    @Option(help: "The descriptor of the socket that listens.")
    var listener: Int32?

    @Option(help: "The descriptor that ends when the program does.")
    var life: Int32?

    @Option(help: "The folder of the socket, which is removed at the end.")
    var folder: String?

    @Option(help: "The descriptor on which a question of the daemon comes, instead.")
    var ask: Int32?

    func run() throws {
        if let ask { return try ForwardedQuestion.answer(on: ask, with: StandardPrompt()) }
        guard let listener, let life, let folder else { throw Failure.usage("this is a part of the PKCS #11 module") }
        try serve(listener, while: life, in: folder)
    }

    private func serve(_ listener: Int32, while life: Int32, in folder: String) throws {
        defer {
            unlink(folder + "/socket")
            rmdir(folder)
        }
        guard try ProcessVault.exists() else {
            throw Failure(status: errSecItemNotFound, "there is no vault: `keychain init` makes one")
        }
        let vault = try EmbeddedVault.openVault(at: ProcessVault.defaultPath()) { nil }
        defer { vault.close() }
        var rule = Entitlements.Rule()
        rule.user = geteuid()
        // New keys go where those of `keychain key create` are.
        rule.groups = ["keychain", Client.everyGroup]
        rule.rights = .list
        var entitlements = Entitlements()
        entitlements.rules = [rule]
        let server = try VaultServer(vault: vault, entitlements: EntitlementsSource(entitlements))
        let isWatched = DetachedThread.start("life of the program") {
            var entry = pollfd(fd: life, events: Int16(truncatingIfNeeded: POLLIN), revents: 0)
            while poll(&entry, 1, -1) < 0, errno == EINTR {}
            server.stop()
        }
        guard isWatched else { throw Failure.system("no thread is left: end other programs", EAGAIN) }
        server.serve(listener)
    }
}
