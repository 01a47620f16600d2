import Certificates
import Foundation
import KeychainModel

/// The `kSecMatch…` entries: how many items, and conditions beyond equal attributes.
///
/// As in Apple's keychain any key that starts with `m` is accepted and those without an implementation
/// (case-insensitivity, parts of the subject, lists) have no effect.
struct MatchKeys {
    enum Limit: Equatable {
        case one
        case number(Int)
        case all
    }

    private(set) var limit: Limit?
    private(set) var count = 0
    private var host: String?
    private var emailAddress: String?
    private var validOn: Date?
    private var isTrustRequired = false
    private var hasPolicy = false
    /// Normalised names.
    private var issuers: [Data] = []

    /// Reads an entry whose key starts with `m`.
    mutating func read(_ key: String, _ value: Any) throws(SecItemFailure) {
        count += 1
        switch key {
        case "m_Limit":
            limit = try Self.limit(value)
        case "m_HostOrSubdomainOfHost":
            guard let name = value as? String else { throw .parameter }
            host = name
        case "m_EmailAddressIfPresent":
            guard let address = value as? String else { throw .parameter }
            emailAddress = address
        case "m_ValidOnDate":
            if let date = value as? Date {
                validOn = date
            } else if value is NSNull {
                validOn = Date()
            } else {
                throw .parameter
            }
        case "m_TrustedOnly":
            guard let isRequired = AttributeCoercion.boolean(value) else { throw .parameter }
            isTrustRequired = isRequired
        case "m_Policy":
            hasPolicy = true
        case "m_Issuers":
            guard let names = value as? [Any] else { throw .parameter }
            issuers = names.compactMap { name in
                (name as? Data).flatMap { try? DistinguishedName(der: $0) }?.normalizedContent
            }
        default:
            break
        }
    }

    private static func limit(_ value: Any) throws(SecItemFailure) -> Limit {
        switch value as? String {
        case "m_LimitOne": return .one
        case "m_LimitAll": return .all
        case nil: break
        default: throw .parameter
        }
        guard !AttributeCoercion.isBoolean(value), let number = value as? NSNumber else { throw .parameter }
        let limit = number.intValue
        // -1 is Apple's own sign for 'unlimited'.
        if limit < 0 { return .all }
        return limit == 1 ? .one : .number(limit)
    }

    /// The most items to find; nil for all. One is the default.
    var greatestCount: Int? {
        switch limit {
        case nil, .one: 1
        case .number(let number): number
        case .all: nil
        }
    }

    /// Whether results come as an array, even if there is only one.
    var wantsArray: Bool { limit != nil && limit != .one }

    /// Whether the items found have to be evaluated for trust, which this keychain does not do: leaving the
    /// condition out would return items the caller does not trust.
    func needsTrust(for itemClass: ItemClass) -> Bool {
        (hasPolicy || isTrustRequired) && (itemClass == .certificate || itemClass == .identity)
    }

    /// The conditions for items of this class.
    ///
    /// - Throws: -4 for a condition that makes sense only for another class.
    func filters(for itemClass: ItemClass) throws(SecItemFailure) -> [ItemFilter] {
        if count == 0 { return [] }
        let isCertificate = itemClass == .certificate || itemClass == .identity
        if hasPolicy, !isCertificate { throw .unimplemented }
        var filters: [ItemFilter] = []
        if let host {
            guard itemClass == .internetPassword else { throw .unimplemented }
            filters.append(.hostOrSubdomain(host))
        }
        if !issuers.isEmpty {
            guard isCertificate else { throw .unimplemented }
            filters.append(.issuers(issuers))
        }
        if isCertificate {
            if let emailAddress { filters.append(.emailAddress(emailAddress)) }
            if let validOn { filters.append(.validOn(validOn)) }
        }
        return filters
    }
}
