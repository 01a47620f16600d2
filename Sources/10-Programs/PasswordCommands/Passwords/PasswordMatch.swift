import Access
import CommandKit
import KeychainModel
import SecretService
import StatusCodes
import VaultInterface

/// Finds the password that another program stored, by what that program says of it.
struct PasswordMatch {
    var service: String?
    var account: String?
    var label: String?
    var attributes: CustomAttributes
    var scope: ItemScope

    /// Returns the one password, without its value.
    ///
    /// Asks nobody. An item that needs a person is found only by service and account.
    func one(in session: VaultSession) throws -> StoredItem {
        var withheld = 0
        var found: [StoredItem] = []
        for itemClass in [ItemClass.genericPassword, .internetPassword]
        where itemClass == .genericPassword || service == nil {
            do {
                found += try session.perform(CopyItems(query(itemClass, session), includingValues: false)) { part in
                    if case .withheld = part { withheld += 1 }
                }
            } catch VaultError.itemNotFound {
                continue
            }
        }
        // Where a daemon serves the vault, another program must not put its item in the place of this one's.
        if scope.group == nil, let own = try session.ownGroup {
            let others = found.filter { item in
                ![own, SecretGuests.sharedGroup].contains { item.accessGroup.isSameGroup(as: $0) }
            }
            found.removeAll { item in others.contains { $0.identifier == item.identifier } }
            if found.isEmpty, !others.isEmpty {
                throw Failure(
                    status: errSecItemNotFound,
                    "no such item in the group '\(own.escapedForTerminal)'; other programs have "
                        + "\(others.map(Self.name).sorted().joined(separator: ", ")): choose it with --group")
            }
        }
        guard let item = found.first else {
            var hint = withheld > 0 ? "; items that need a person are found by service and account alone" : ""
            if let tool = OtherTool.served, !tool.caller.rights.contains(.list) {
                hint +=
                    "; the daemon lets this program, \(tool.name), search its own group alone: name service and account, or "
                    + "grant it the right 'list' in the entitlements file"
            }
            throw Failure(
                status: errSecItemNotFound,
                "no item has this label and these attributes: `keychain list` shows what there is\(hint)")
        }
        guard found.count == 1 else {
            throw Failure(
                status: errSecParam,
                "\(found.count) items have this: \(found.map(Self.name).sorted().joined(separator: ", ")); choose one with "
                    + "more attributes, --group, or its service and account")
        }
        return item
    }

    private func query(_ itemClass: ItemClass, _ session: VaultSession) throws -> ItemQuery {
        var query = ItemQuery(
            itemClass: itemClass, accessGroup: scope.group, synchronizable: scope.synchronizableScope,
            authentication: AuthenticationOptions(interaction: .skip))
        query.attributes[.service] = service.map(AttributeValue.string)
        query.attributes[.account] = account.map(AttributeValue.string)
        query.attributes[.label] = label.map(AttributeValue.string)
        query.customAttributes = attributes
        query.reports = .withheld
        return query
    }

    private static func name(_ item: StoredItem) -> String {
        let place =
            item.itemClass == .internetPassword
            ? InternetAddress(item).urlWithAccount
            : [AttributeName.service, .account].compactMap { item.attribute($0).map { AttributeText($0).plain } }
                .joined(separator: " ")
        let label = item.attribute(.label).map { " (\(AttributeText($0).forTerminal))" } ?? ""
        return "'\(place.escapedForTerminal)' in '\(item.accessGroup.escapedForTerminal)'\(label)"
    }
}

extension PasswordSearch {
    /// Searches for exactly this item from now on, and asks as before.
    mutating func choose(_ item: StoredItem) {
        var chosen = ItemQuery(item: item)
        chosen.authentication = query.authentication
        chosen.authentication.prompt =
            "use the password '\(item.attribute(.label).map { AttributeText($0).plain } ?? "")'"
        query = chosen
    }
}
