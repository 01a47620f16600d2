import FoundationEssentials
import Frames
import KeychainModel

// Queries and the ways to ask a person.

extension WireBuffer {
    package func append(_ query: ItemQuery) {
        append(query.itemClass.storedCode)
        append(query.attributes)
        append(optional: query.accessGroup) { append($0) }
        append(query.synchronizable.wireCode)
        append(optional: query.identifier) { append($0) }
        append(optional: query.limit) { append(UInt32(clamping: $0)) }
        append(list: query.filters) { append($0) }
        append(query.includesTombstones)
        append(query.reports.rawValue)
        append(query.authentication)
    }

    package func append(_ filter: ItemFilter) {
        switch filter {
        case .hostOrSubdomain(let host):
            append(UInt8(1))
            append(host)
        case .emailAddress(let address):
            append(UInt8(2))
            append(address)
        case .validOn(let date):
            append(UInt8(3))
            append(date)
        case .issuers(let names):
            append(UInt8(4))
            append(list: names) { append($0) }
        }
    }

    package func append(_ options: AuthenticationOptions) {
        append(options.interaction.wireCode)
        append(optional: options.prompt) { append($0) }
        append(optional: options.context) { append($0) }
        append(optional: options.applicationPassword) { append($0) }
    }
}

extension WireReader {
    package mutating func itemQuery() throws(WireError) -> ItemQuery {
        var query = ItemQuery(
            itemClass: try itemClass(), attributes: try attributes(), accessGroup: try optionalString(),
            synchronizable: try synchronizableScope(),
            identifier: try optional { reader throws(WireError) in try reader.uuid() },
            limit: try optional { reader throws(WireError) in Int(try reader.integer(UInt32.self)) },
            filters: try list(limit: WireLimits.filters) { reader throws(WireError) in try reader.filter() },
            includesTombstones: try bool())
        query.reports = SearchReports(rawValue: try integer(UInt8.self))
        query.authentication = try authenticationOptions()
        return query
    }

    private mutating func synchronizableScope() throws(WireError) -> SynchronizableScope {
        switch try integer(UInt8.self) {
        case 0: return .localOnly
        case 1: return .synchronizableOnly
        case 2: return .any
        default: throw WireError("unknown scope")
        }
    }

    private mutating func filter() throws(WireError) -> ItemFilter {
        switch try integer(UInt8.self) {
        case 1: return .hostOrSubdomain(try string())
        case 2: return .emailAddress(try string())
        case 3: return .validOn(try date())
        case 4:
            return .issuers(try list(limit: WireLimits.issuers) { reader throws(WireError) in try reader.data() })
        default: throw WireError("unknown filter")
        }
    }

    package mutating func authenticationOptions() throws(WireError) -> AuthenticationOptions {
        let interaction: AuthenticationOptions.Interaction
        switch try integer(UInt8.self) {
        case 0: interaction = .allow
        case 1: interaction = .fail
        case 2: interaction = .skip
        default: throw WireError("unknown interaction")
        }
        return AuthenticationOptions(
            interaction: interaction, prompt: try optionalString(),
            context: try optional { reader throws(WireError) in try reader.uuid() },
            applicationPassword: try optional { reader throws(WireError) in try reader.secret() })
    }
}

extension SynchronizableScope {
    fileprivate var wireCode: UInt8 {
        switch self {
        case .localOnly: 0
        case .synchronizableOnly: 1
        case .any: 2
        }
    }
}

extension AuthenticationOptions.Interaction {
    fileprivate var wireCode: UInt8 {
        switch self {
        case .allow: 0
        case .fail: 1
        case .skip: 2
        }
    }
}
