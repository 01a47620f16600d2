import ArgumentParser
import Foundation
import KeychainModel
import KeychainServices
import Synchronization
import Vault

/// Lists the generic passwords, without their secrets.
struct ListCommand: DocumentedCommand {
    static let summary = "List the passwords in the keychain, without the secrets."
    static let details = """
        One line for each password: service, account and access group, in columns on a terminal and separated \
        by tabs otherwise. Backslashes and control characters are written as escapes. An empty keychain is an \
        empty list; a service without passwords is an error. Passwords that need a person or a further password \
        are left out, and standard error says how many.
        """
    static let examples = [
        Example("Everything", "keychain list"),
        Example("The accounts of one service", "keychain list mail.example.com | cut -f2"),
        Example("With labels and dates", "keychain list --json"),
    ]
    static let configuration: CommandConfiguration = documented("list", aliases: ["ls"])

    @Argument(help: "Only passwords for this service.")
    var service: String?

    @OptionGroup var scope: ItemScope

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: "Print the items, and any error, as JSON.")
    var json = false

    func run() throws {
        let damaged = Mutex(0)
        let withheld = Mutex(0)
        let items = try items(
            reportDamage: { _ in damaged.withLock { $0 += 1 } }, reportWithheld: { _ in withheld.withLock { $0 += 1 } })
        if json {
            try StandardOutput.write(json: items.map(ItemSummary.init))
        } else {
            let rows = items.map(row).sorted { $0.lexicographicallyPrecedes($1) }
            if !rows.isEmpty {
                try StandardOutput.write(line: Table(rows).text(aligned: StandardOutput.isTerminal))
            }
        }
        switch withheld.withLock({ $0 }) {
        case 0: break
        case 1: try note("1 password needs a person or a further password, and is not listed")
        case let count: try note("\(count) passwords need a person or a further password, and are not listed")
        }
        let count = damaged.withLock { $0 }
        guard count == 0 else {
            throw Failure(
                status: errSecDecode,
                "\(count) damaged \(count == 1 ? "item was" : "items were") left out: "
                    + "`keychain status --verify` names them")
        }
    }

    private func note(_ words: String) throws(Failure) {
        try FileOutput.write(Data("keychain: \(words)\n".utf8), to: 2)
    }

    private func items(
        reportDamage: @escaping @Sendable (String) -> Void, reportWithheld: @escaping @Sendable (WithheldItem) -> Void
    ) throws(Failure) -> [StoredItem] {
        let session = try VaultSession.ofOwnerForLooking(passcode)
        var query = ItemQuery(
            itemClass: .genericPassword, accessGroup: scope.group, synchronizable: scope.synchronizableScope)
        query.reportDamage = reportDamage
        query.authentication.interaction = .skip
        query.reportWithheld = reportWithheld
        if let service { query.attributes[.service] = .string(service) }
        do {
            return try session.vault.copy(query, includingValues: false, as: session.client)
        } catch {
            if error == .itemNotFound, service == nil { return [] }
            throw Failure(error)
        }
    }

    private func row(_ item: StoredItem) -> [String] {
        [
            item.attribute(.service).map { AttributeText($0).forTerminal } ?? "",
            item.attribute(.account).map { AttributeText($0).forTerminal } ?? "",
            item.accessGroup.escapedForTerminal,
        ]
    }
}

/// Rows of text for a terminal or a script.
struct Table {
    private let rows: [[String]]

    init(_ rows: [[String]]) {
        self.rows = rows
    }

    func text(aligned: Bool) -> String {
        guard aligned else { return rows.map { $0.joined(separator: "\t") }.joined(separator: "\n") }
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in
            rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
        }
        return rows.map { row in
            row.enumerated().map { column, cell in
                let isLast = column == row.count - 1
                return isLast ? cell : cell + String(repeating: " ", count: widths[column] - cell.count)
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }
}
