import Foundation
import KeychainModel

/// Decides the conditions of a query that go beyond equal attributes.
struct ItemFilterEvaluator {
    private let filters: [ItemFilter]

    init(_ filters: [ItemFilter]) {
        self.filters = filters
    }

    /// Whether the item's value is needed to decide.
    var needsValue: Bool {
        filters.contains { filter in
            if case .hostOrSubdomain = filter { return false }
            return true
        }
    }

    mutating func accepts(_ item: StoredItem, value: Data?) -> Bool {
        filters.allSatisfy { filter in
            switch filter {
            case .hostOrSubdomain(let host):
                guard case .string(let server) = item.attribute(.server) else { return false }
                return server == host || server.hasSuffix("." + host)
            case .emailAddress, .validOn, .issuers:
                return true
            }
        }
    }
}
