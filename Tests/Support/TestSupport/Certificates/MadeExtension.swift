import Foundation

/// An extension of a certificate that a test makes.
package struct MadeExtension: Sendable {
    package var identifier: String
    package var isCritical = false
    /// DER, or what a test puts into its place.
    package var value: Data

    package init(_ identifier: String, isCritical: Bool = false, _ value: Data) {
        (self.identifier, self.isCritical, self.value) = (identifier, isCritical, value)
    }

    /// The same, but critical.
    package var critical: MadeExtension { MadeExtension(identifier, isCritical: true, value) }

    package var encoded: Data {
        let critical = isCritical ? DERValue.node(0x01, Data([0xFF])) : Data()
        return DERValue.sequence(DERValue.identifier(identifier), critical, DERValue.node(0x04, value))
    }

    /// basicConstraints of an authority.
    package static func authority(length: Int? = nil) -> MadeExtension {
        let length = length.map { DERValue.integer($0) } ?? Data()
        return MadeExtension(
            "2.5.29.19", isCritical: true, DERValue.sequence(DERValue.node(0x01, Data([0xFF])), length))
    }

    /// basicConstraints of a certificate that is no authority.
    package static var noAuthority: MadeExtension { MadeExtension("2.5.29.19", DERValue.sequence()) }

    /// A bit of keyUsage by its number (RFC 5280, 4.2.1.3).
    package enum Usage: Int, Sendable {
        case signature = 0
        case encipherment = 2
        case agreement = 4
        case certificates = 5
        case lists = 6
    }

    package static func usage(_ usages: Usage...) -> MadeExtension {
        let byte = usages.reduce(0 as UInt8) { $0 | 0x80 >> UInt8($1.rawValue) }
        return MadeExtension("2.5.29.15", DERValue.bits(Data([byte]), unused: UInt8(byte.trailingZeroBitCount & 7)))
    }

    /// The uses of extendedKeyUsage that tests name.
    package enum Use: String, Sendable {
        case server = "1.3.6.1.5.5.7.3.1"
        case client = "1.3.6.1.5.5.7.3.2"
        case code = "1.3.6.1.5.5.7.3.3"
        case any = "2.5.29.37.0"
        case microsoftServer = "1.3.6.1.4.1.311.10.3.3"
        case netscapeServer = "2.16.840.1.113730.4.1"
    }

    package static func uses(_ uses: Use...) -> MadeExtension {
        MadeExtension("2.5.29.37", DERValue.sequence(uses.map { DERValue.identifier($0.rawValue) }))
    }

    package static func names(_ names: GeneralName...) -> MadeExtension {
        MadeExtension("2.5.29.17", DERValue.sequence(names.map(\.encoded)))
    }

    /// Critical name constraints.
    package static func constraints(permitted: [GeneralName] = [], excluded: [GeneralName] = []) -> MadeExtension {
        func subtrees(_ tag: UInt8, _ names: [GeneralName]) -> Data {
            names.isEmpty ? Data() : DERValue.node(tag, names.map { DERValue.sequence($0.encoded) })
        }
        return MadeExtension(
            "2.5.29.30", isCritical: true, DERValue.sequence(subtrees(0xA0, permitted), subtrees(0xA1, excluded)))
    }

    package static func policies(_ policies: String...) -> MadeExtension {
        MadeExtension("2.5.29.32", DERValue.sequence(policies.map { DERValue.sequence(DERValue.identifier($0)) }))
    }

    package static func mappings(_ mappings: (String, String)...) -> MadeExtension {
        MadeExtension(
            "2.5.29.33",
            DERValue.sequence(
                mappings.map { DERValue.sequence(DERValue.identifier($0.0), DERValue.identifier($0.1)) }))
    }

    /// Critical policyConstraints: after how many certificates a policy is required, or no mapping is allowed.
    package static func policyConstraints(explicit: Int? = nil, mapping: Int? = nil) -> MadeExtension {
        let explicit = explicit.map { DERValue.integer($0, tag: 0x80) } ?? Data()
        let mapping = mapping.map { DERValue.integer($0, tag: 0x81) } ?? Data()
        return MadeExtension("2.5.29.36", isCritical: true, DERValue.sequence(explicit, mapping))
    }

    /// subjectKeyIdentifier of one byte.
    package static func key(_ number: UInt8) -> MadeExtension {
        MadeExtension("2.5.29.14", DERValue.node(0x04, Data([number])))
    }

    /// authorityKeyIdentifier of one byte.
    package static func issuerKey(_ number: UInt8) -> MadeExtension {
        MadeExtension("2.5.29.35", DERValue.sequence(DERValue.node(0x80, Data([number]))))
    }

    package static func inhibitAnyPolicy(_ number: Int) -> MadeExtension {
        MadeExtension("2.5.29.54", isCritical: true, DERValue.integer(number))
    }
}

/// A GeneralName (RFC 5280, 4.2.1.6).
package enum GeneralName: Sendable {
    case host(String)
    case mail(String)
    case resource(String)
    case address([UInt8])
    /// A name of attributes such as `O=a`.
    case directory([String])
    case registered(String)
    /// Another name of this type, with a text.
    case other(String, String)

    package var encoded: Data {
        switch self {
        case .mail(let text): DERValue.node(0x81, Data(text.utf8))
        case .host(let text): DERValue.node(0x82, Data(text.utf8))
        case .resource(let text): DERValue.node(0x86, Data(text.utf8))
        case .address(let bytes): DERValue.node(0x87, Data(bytes))
        case .directory(let attributes): DERValue.node(0xA4, DERValue.name(attributes))
        case .registered(let identifier): DERValue.node(0x88, DERValue.identifier(identifier).dropFirst(2))
        case .other(let type, let text):
            DERValue.node(
                0xA0, DERValue.identifier(type), DERValue.node(0xA0, DERValue.node(0x0C, Data(text.utf8))))
        }
    }
}
