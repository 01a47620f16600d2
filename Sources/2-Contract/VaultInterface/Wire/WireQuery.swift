import Bytes
import Frames
import KeychainModel

// Queries and the ways to ask a person.

extension ItemQuery: WireValue {
    package func encode(to buffer: FrameBuffer) {
        buffer.write(
            itemClass, attributes, accessGroup, synchronizable, identifier, limit.map(UInt32.init(clamping:)))
        buffer.write(list: filters)
        buffer.write(
            includesTombstones, reports.rawValue, authentication, WireCustomAttributes(customAttributes),
            includesExpired)
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self.init(
            itemClass: try reader.read(), attributes: try reader.read(), accessGroup: try reader.read(),
            synchronizable: try reader.read(), identifier: try reader.read(),
            limit: try reader.read(UInt32?.self).map(Int.init), filters: try reader.list(limit: WireLimits.filters),
            includesTombstones: try reader.read())
        reports = SearchReports(rawValue: try reader.read())
        authentication = try reader.read()
        customAttributes = try reader.read(WireCustomAttributes.self).attributes
        includesExpired = try reader.read()
    }
}

extension SynchronizableScope: WireValue {
    package func encode(to buffer: FrameBuffer) {
        switch self {
        case .localOnly: buffer.write(code: 0)
        case .synchronizableOnly: buffer.write(code: 1)
        case .any: buffer.write(code: 2)
        }
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        switch try reader.read(UInt8.self) {
        case 0: self = .localOnly
        case 1: self = .synchronizableOnly
        case 2: self = .any
        default: throw FrameError("unknown scope")
        }
    }
}

extension ItemFilter: WireValue {
    package func encode(to buffer: FrameBuffer) {
        switch self {
        case .hostOrSubdomain(let host): buffer.write(code: 1, host)
        case .emailAddress(let address): buffer.write(code: 2, address)
        case .validOn(let date): buffer.write(code: 3, date)
        case .issuers(let names):
            buffer.write(code: 4)
            buffer.write(list: names)
        }
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        switch try reader.read(UInt8.self) {
        case 1: self = .hostOrSubdomain(try reader.read())
        case 2: self = .emailAddress(try reader.read())
        case 3: self = .validOn(try reader.read())
        case 4: self = .issuers(try reader.list(limit: WireLimits.issuers))
        default: throw FrameError("unknown filter")
        }
    }
}

extension AuthenticationOptions: WireValue {
    package func encode(to buffer: FrameBuffer) {
        buffer.write(interaction, prompt, context, applicationPassword)
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self.init(
            interaction: try reader.read(), prompt: try reader.read(), context: try reader.read(),
            applicationPassword: try reader.read())
    }
}

extension AuthenticationOptions.Interaction: WireValue {
    package func encode(to buffer: FrameBuffer) {
        switch self {
        case .allow: buffer.write(code: 0)
        case .fail: buffer.write(code: 1)
        case .skip: buffer.write(code: 2)
        }
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        switch try reader.read(UInt8.self) {
        case 0: self = .allow
        case 1: self = .fail
        case 2: self = .skip
        default: throw FrameError("unknown interaction")
        }
    }
}
