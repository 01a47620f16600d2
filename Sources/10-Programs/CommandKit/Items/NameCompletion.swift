import Access
import ArgumentParser
import Bytes
import FoundationEssentials
import KeychainModel
import ProcessVault
import VaultInterface

extension CompletionKind {
    /// The services of passwords.
    package static var services: CompletionKind {
        .custom { _, _, _ in NameCompletion.names(.genericPassword, [.service]) }
    }

    /// The accounts of the service that stands before.
    package static var accounts: CompletionKind {
        .custom { words, place, _ in
            guard words.indices.contains(place - 1) else { return [] }
            return NameCompletion.names(.genericPassword, [.account], where: [.service: .string(words[place - 1])])
        }
    }

    /// The sites that there are one-time codes for.
    package static var sites: CompletionKind {
        .custom { _, _, _ in
            let prefix = "one-time-code/"
            return NameCompletion.names(.genericPassword, [.service]).filter { $0.hasPrefix(prefix) }
                .map { String($0.dropFirst(prefix.count)) }
        }
    }

    /// The labels of keys.
    package static var keys: CompletionKind { .custom { _, _, _ in NameCompletion.names(.key, [.label]) } }

    /// The labels of certificates.
    package static var certificates: CompletionKind {
        .custom { _, _, _ in NameCompletion.names(.certificate, [.label]) }
    }

    /// The access groups that have items.
    package static var groups: CompletionKind { .custom { _, _, _ in NameCompletion.groups() } }
}

/// Names of what is in the vault, for a shell that completes a word.
///
/// Nobody is asked for anything: of a locked vault, what the lock hides is not offered.
enum NameCompletion {
    /// More would not help a person to choose.
    private static let most = 5_000

    static func names(
        _ itemClass: ItemClass, _ attributes: [AttributeName], where known: ItemAttributes = [:]
    ) -> [String] {
        let texts = items(itemClass, known).flatMap { item in
            attributes.compactMap { item.attribute($0).map { AttributeText($0).plain } }
        }
        return sorted(texts)
    }

    static func groups() -> [String] {
        sorted(ItemClass.stored.flatMap { items($0, [:]).map(\.accessGroup) })
    }

    /// A shell takes one name from each line.
    private static func sorted(_ texts: [String]) -> [String] {
        Array(
            Set(texts).filter { !$0.isEmpty && !$0.unicodeScalars.contains { $0.controlsTerminal } }.sorted().prefix(
                most))
    }

    private static func items(_ itemClass: ItemClass, _ known: ItemAttributes) -> [StoredItem] {
        guard (try? ProcessVault.exists()) == true, let session = try? VaultSession.ofOwner() else { return [] }
        let query = ItemQuery(itemClass: itemClass, attributes: known, synchronizable: .any)
        return (try? session.withoutUnlocking.described(query)) ?? []
    }
}
