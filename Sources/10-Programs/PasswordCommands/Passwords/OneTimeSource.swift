import CommandKit
import FoundationEssentials
import KeychainModel
import OneTimeCodes
import StatusCodes
import VaultInterface

/// What the one-time codes of a site are made from.
package struct OneTimeSource {
    let site: String
    /// Nil if the site has one.
    let account: String?
    let scope: ItemScope
    let itemPassword: ItemPassword

    package init(site: String, account: String?, scope: ItemScope, itemPassword: ItemPassword) {
        (self.site, self.account, self.scope, self.itemPassword) = (site, account, scope, itemPassword)
    }

    /// Returns the code of now, or the next one of a counter, and for how many seconds it is good.
    package func next(_ session: VaultSession) throws -> (code: String, seconds: Int?) {
        let item = try item(session)
        var password = try password(item)
        let now = Date()
        let code = password.code(at: now)
        if case .counter(let counter) = password.factor {
            guard counter < .max else { throw Failure(status: errSecParam, "the counter has come to its end") }
            password.factor = .counter(counter + 1)
            try countOn(item, to: password, session)
        }
        return (code, password.secondsLeft(at: now))
    }

    func password(_ session: VaultSession) throws -> OneTimePassword { try password(item(session)) }

    private func password(_ item: StoredItem) throws -> OneTimePassword {
        guard
            let password = item.value.flatMap({ String(validating: $0, as: UTF8.self) })
                .flatMap({ try? OneTimePassword($0) })
        else {
            throw Failure(
                status: errSecDecode,
                "what is stored for '\(site.escapedForTerminal)' makes no one-time code: store its address with --set")
        }
        return password
    }

    /// Finds the one item of the site, with its value.
    private func item(_ session: VaultSession) throws -> StoredItem {
        var query = ItemQuery(
            itemClass: .genericPassword, attributes: [.service: .string(EntryService.codePrefix + site)],
            accessGroup: scope.group, synchronizable: scope.synchronizableScope)
        if let account { query.attributes[.account] = .string(account) }
        let found = try session.described(query)
        guard let first = found.first else {
            throw Failure(
                status: errSecItemNotFound,
                "no one-time code is stored for '\(site.escapedForTerminal)'"
                    + (account.map { " and '\($0.escapedForTerminal)'" } ?? "")
                    + ": store one with --set, or see `keychain list`")
        }
        guard found.count == 1 else {
            let accounts = found.map { "'\($0.names.account?.forTerminal ?? "")'" }.sorted().joined(separator: ", ")
            throw Failure.usage(
                "'\(site.escapedForTerminal)' has several one-time codes: name the account, of \(accounts), or --group")
        }
        var one = ItemQuery(item: first)
        one.authentication = try itemPassword.authentication()
        one.authentication.prompt = "use the one-time code of '\(site)'"
        guard let item = try session.perform(CopyItems(one, includingValues: true)).first else {
            throw VaultError.itemNotFound
        }
        return item
    }

    /// Stores the next counter, unless another program was faster: then its code was given, and this one is not.
    private func countOn(_ item: StoredItem, to password: OneTimePassword, _ session: VaultSession) throws {
        var new = NewItem(
            itemClass: item.itemClass, attributes: item.attributes, accessGroup: item.accessGroup,
            accessControl: item.accessControl, isSynchronizable: item.isSynchronizable, value: Data(password.uri.utf8))
        new.customAttributes = item.customAttributes
        new.authentication = try itemPassword.authentication()
        guard try session.perform(ExchangeItem(new, expecting: item.value)) else {
            throw Failure(
                status: errSecInteractionNotAllowed, exitCode: ExitStatus.other,
                "another program has just taken this code: run this again for the next one")
        }
    }
}
