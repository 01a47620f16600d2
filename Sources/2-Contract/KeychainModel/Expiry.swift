import FoundationEssentials

/// Until when the value of an item is handed out.
package enum Expiry: Sendable, Hashable {
    case never
    /// From then on the item is there, and its value is read only by who asks for expired ones.
    case at(Date)

    package init(_ date: Date?) { self = date.map(Expiry.at) ?? .never }

    package var date: Date? {
        if case .at(let date) = self { date } else { nil }
    }
}
