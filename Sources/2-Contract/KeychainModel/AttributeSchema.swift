import FoundationEssentials

/// One attribute of a class: what it may hold, whether it is part of the primary key, and what it is
/// when it was never set.
package struct AttributeDefinition: Sendable {
    package let name: AttributeName
    package let kind: AttributeKind
    package let isPrimaryKey: Bool
    /// The value a primary-key attribute has when the caller gave none.
    package let defaultValue: AttributeValue?

    fileprivate init(
        _ name: AttributeName, _ kind: AttributeKind, key: Bool = false, default defaultValue: AttributeValue? = nil
    ) {
        self.name = name
        self.kind = kind
        self.isPrimaryKey = key
        self.defaultValue = defaultValue
    }
}

/// The attributes of a class (Apple, SecItemSchema.c, as observable behaviour).
package struct AttributeSchema: Sendable {
    /// In the order of their names.
    private let definitions: [AttributeDefinition]
    /// The primary-key attributes in the order of their names, so that a digest over them is stable.
    package let primaryKey: [AttributeDefinition]
    /// The primary-key attributes that other classes do not have, such as service and account.
    package let ownPrimaryKey: [AttributeName]

    fileprivate init(_ own: [AttributeDefinition]) {
        let all = Self.common + own
        let named = Dictionary(all.map { ($0.name, $0) }, uniquingKeysWith: { _, last in last })
        definitions = named.values.sorted { $0.name < $1.name }
        primaryKey = definitions.filter(\.isPrimaryKey)
        ownPrimaryKey = own.filter(\.isPrimaryKey).map(\.name)
    }

    package subscript(name: AttributeName) -> AttributeDefinition? {
        var (low, high) = (0, definitions.count)
        while low < high {
            let middle = (low + high) / 2
            if definitions[middle].name < name { low = middle + 1 } else { high = middle }
        }
        return low < definitions.count && definitions[low].name == name ? definitions[low] : nil
    }

    package var names: some Collection<AttributeName> { definitions.map(\.name) }

    private static let common: [AttributeDefinition] = [
        .init("agrp", .string, key: true),
        .init("pdmn", .accessible),
        .init("accc", .accessControl),
        .init("sync", .number, key: true, default: .number(0)),
        .init("tomb", .number),
        .init("cdat", .date),
        .init("mdat", .date),
        .init("labl", .blob),
        .init("alis", .blob),
        .init("tkid", .string, key: true, default: .string("")),
        .init("vwht", .string, key: true, default: .string("")),
        .init("musr", .data, key: true, default: .data(.init())),
        .init("ggrp", .string, key: true, default: .string("")),
        .init("sha1", .data),
    ]

    private static let passwordCommon: [AttributeDefinition] = [
        .init("acct", .blob, key: true, default: .string("")),
        .init("desc", .blob), .init("icmt", .blob),
        .init("crtr", .number), .init("type", .number), .init("scrp", .number),
        .init("invi", .number), .init("nega", .number), .init("cusi", .number),
        .init("prot", .data),
    ]

    fileprivate static let genericPassword = AttributeSchema(
        passwordCommon + [
            .init("svce", .blob, key: true, default: .string("")),
            .init("gena", .blob),
        ])

    fileprivate static let internetPassword = AttributeSchema(
        passwordCommon + [
            .init("sdmn", .blob, key: true, default: .string("")),
            .init("srvr", .blob, key: true, default: .string("")),
            .init("ptcl", .number, key: true, default: .number(0)),
            .init("atyp", .blob, key: true, default: .string("")),
            .init("port", .number, key: true, default: .number(0)),
            .init("path", .blob, key: true, default: .string("")),
            .init("bin0", .blob), .init("bin1", .blob), .init("bin2", .blob), .init("bin3", .blob),
            .init("binn", .blob), .init("bini", .blob),
        ])

    fileprivate static let certificate = AttributeSchema([
        .init("ctyp", .number, key: true, default: .number(0)),
        .init("cenc", .number),
        .init("subj", .data),
        .init("issr", .data, key: true, default: .data(.init())),
        .init("slnr", .data, key: true, default: .data(.init())),
        .init("skid", .data), .init("pkhh", .data),
    ])

    fileprivate static let key = AttributeSchema([
        .init("kcls", .number, key: true, default: .number(0)),
        .init("klbl", .data, key: true, default: .data(.init())),
        .init("atag", .blob, key: true, default: .string("")),
        .init("crtr", .number, key: true, default: .number(0)),
        .init("type", .number, key: true, default: .number(0)),
        .init("bsiz", .number, key: true, default: .number(0)),
        .init("esiz", .number, key: true, default: .number(0)),
        .init("sdat", .date, key: true), .init("edat", .date, key: true),
        .init("perm", .number), .init("priv", .number), .init("modi", .number),
        .init("sens", .number), .init("asen", .number), .init("extr", .number), .init("next", .number),
        .init("encr", .number), .init("decr", .number), .init("drve", .number), .init("sign", .number),
        .init("vrfy", .number), .init("snrc", .number), .init("vyrc", .number), .init("wrap", .number),
        .init("unwp", .number),
    ])

    fileprivate static let identity = AttributeSchema(
        certificate.definitions + key.definitions)
}

extension ItemClass {
    package var schema: AttributeSchema {
        switch self {
        case .genericPassword: .genericPassword
        case .internetPassword: .internetPassword
        case .certificate: .certificate
        case .key: .key
        case .identity: .identity
        }
    }
}
