import FoundationEssentials

/// Until when the value of an item is handed out.
package enum Expiry: Sendable, Hashable {
    case never
    /// From then on the item stays, but the vault returns its value only if the request asks for expired items.
    case at(Date)

    package init(_ date: Date?) { self = date.map(Expiry.at) ?? .never }

    package var date: Date? {
        if case .at(let date) = self { date } else { nil }
    }
}
