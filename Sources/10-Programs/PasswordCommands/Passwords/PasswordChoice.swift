import ArgumentParser
import CommandKit
import KeychainModel
import StatusCodes
import VaultInterface

/// Chooses one password by its name, or by its label or attributes.
struct PasswordChoice: ParsableArguments {
    @Argument(help: "What the secret is for, such as a host or a program.", completion: .services)
    var service: String?

    @Argument(help: "Whose secret it is. May be left out if the service has one account.", completion: .accounts)
    var account: String?

    @Option(
        help: ArgumentHelp(
            "Find the item by an attribute, instead of service and account. If repeated, it has all of them.",
            valueName: "name=value"))
    var attribute: [CustomAttribute] = []

    @Option(help: ArgumentHelp("Find the item by its label, instead of service and account.", valueName: "text"))
    var label: String?

    @OptionGroup var scope: ItemScope

    /// Nil if service and account name the item.
    private var match: PasswordMatch? {
        get throws {
            guard !attribute.isEmpty || label != nil else { return nil }
            return PasswordMatch(
                service: service, account: account, label: label, attributes: try attribute.dictionary(), scope: scope)
        }
    }

    func validate() throws {
        guard try match == nil else { return }
        if service == nil { throw ValidationError("Missing expected argument '<service>'") }
    }

    /// Returns a search for the one password that is meant.
    ///
    /// - Parameter itemPassword: Nil where the secret is not read.
    func search(_ passcode: PasscodeInput, _ itemPassword: ItemPassword?) throws -> PasswordSearch {
        var search = PasswordSearch(
            service: service ?? "", account: account ?? "", group: scope.group,
            synchronizable: scope.synchronizableScope, authentication: try itemPassword?.authentication() ?? .init())
        if let match = try match {
            try search.choose(match.one(in: .ofOwnerInPresentVault(passcode)))
        } else if account == nil {
            try search.choose(only(accountOf: search, passcode))
        }
        return search
    }

    /// Returns the item of a service that has no other one.
    private func only(accountOf search: PasswordSearch, _ passcode: PasscodeInput) throws -> StoredItem {
        var query = search.query
        query.attributes[.account] = nil
        query.includesExpired = true
        let service = (service ?? "").escapedForTerminal
        let found = try VaultSession.ofOwnerInPresentVault(passcode).described(query)
        guard let first = found.first else {
            throw Failure(
                status: errSecItemNotFound,
                "no password is stored for '\(service)': `keychain list` and `keychain internet list` show what there is"
            )
        }
        let accounts = Set(found.map { $0.names.account?.plain ?? "" })
        guard accounts.count == 1 else {
            let names = accounts.sorted().prefix(20).map { "'\($0.escapedForTerminal)'" }.joined(separator: ", ")
            throw Failure.usage("'\(service)' has \(accounts.count) accounts: name one, of \(names)")
        }
        return first
    }
}
