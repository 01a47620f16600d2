import FoundationEssentials
import KeychainModel

/// One attribute line of an item, in the order and under the names that macOS prints.
struct ItemColumn: Sendable {
    enum Format: String, Sendable {
        case blob, timedate, uint32, sint32
    }

    /// The name with its quotes, or the number: everything before the format.
    let tag: String
    let format: Format
    /// Nil for an attribute that macOS has and this vault does not.
    let attribute: AttributeName?
    /// What is printed instead of an attribute.
    let constant: Data?

    private init(_ tag: String, _ format: Format, _ attribute: AttributeName?, constant: Data? = nil) {
        self.tag = tag
        self.format = format
        self.attribute = attribute
        self.constant = constant
    }

    private static func named(_ name: AttributeName, _ format: Format) -> ItemColumn {
        ItemColumn("\"\(name)\"", format, name)
    }

    static func columns(of itemClass: ItemClass) -> [ItemColumn] {
        switch itemClass {
        case .genericPassword: genericPassword
        case .internetPassword: internetPassword
        case .certificate, .identity: certificate
        case .key: key
        }
    }

    /// The class as macOS prints it: the name of the record type for passwords, and its number for others
    /// (CSSM_DL_DB_RECORD_X509_CERTIFICATE, CSSM_DL_DB_RECORD_PRIVATE_KEY).
    static func className(_ itemClass: ItemClass) -> String {
        switch itemClass {
        case .genericPassword, .internetPassword: "\"\(itemClass.rawValue)\""
        case .certificate, .identity: "0x80001000 "
        case .key: "0x00000010 "
        }
    }

    private static let label = ItemColumn("0x00000007 ", .blob, .label)
    private static let alias = ItemColumn("0x00000008 ", .blob, "alis")

    private static let genericPassword: [ItemColumn] = [
        label, alias,
        named("acct", .blob), named("cdat", .timedate), named("crtr", .uint32), named("cusi", .sint32),
        named("desc", .blob), named("gena", .blob), named("icmt", .blob), named("invi", .sint32),
        named("mdat", .timedate), named("nega", .sint32), named("prot", .blob), named("scrp", .sint32),
        named("svce", .blob), named("type", .uint32),
    ]

    private static let internetPassword: [ItemColumn] = [
        label, alias,
        named("acct", .blob), named("atyp", .blob), named("cdat", .timedate), named("crtr", .uint32),
        named("cusi", .sint32), named("desc", .blob), named("icmt", .blob), named("invi", .sint32),
        named("mdat", .timedate), named("nega", .sint32), named("path", .blob), named("port", .uint32),
        named("prot", .blob), named("ptcl", .uint32), named("scrp", .sint32), named("sdmn", .blob),
        named("srvr", .blob), named("type", .uint32),
    ]

    private static let certificate: [ItemColumn] = [
        named("alis", .blob), named("cenc", .uint32), named("ctyp", .uint32),
        ItemColumn("\"hpky\"", .blob, .publicKeyHash), ItemColumn("\"issu\"", .blob, .issuer),
        named("labl", .blob), named("skid", .blob), ItemColumn("\"snbr\"", .blob, .serialNumber),
        named("subj", .blob),
    ]

    /// Keys have numbered attributes, those of the CSSM key schema.
    private static let key: [ItemColumn] = [
        ItemColumn("0x00000000 ", .uint32, nil, constant: Data([0, 0, 0, 0x10])),
        ItemColumn("0x00000001 ", .blob, .label),
        ItemColumn("0x00000002 ", .blob, "alis"),
        ItemColumn("0x00000003 ", .uint32, "perm"),
        ItemColumn("0x00000004 ", .uint32, "priv"),
        ItemColumn("0x00000005 ", .uint32, "modi"),
        ItemColumn("0x00000006 ", .blob, .applicationLabel),
        ItemColumn("0x00000007 ", .blob, .applicationTag),
        ItemColumn("0x00000008 ", .blob, nil),
        ItemColumn("0x00000009 ", .uint32, .type),
        ItemColumn("0x0000000A ", .uint32, "bsiz"),
        ItemColumn("0x0000000B ", .uint32, "esiz"),
        ItemColumn("0x0000000C ", .timedate, "sdat"),
        ItemColumn("0x0000000D ", .timedate, "edat"),
        ItemColumn("0x0000000E ", .uint32, "sens"),
        ItemColumn("0x0000000F ", .uint32, "asen"),
        ItemColumn("0x00000010 ", .uint32, "extr"),
        ItemColumn("0x00000011 ", .uint32, "next"),
        ItemColumn("0x00000012 ", .uint32, "encr"),
        ItemColumn("0x00000013 ", .uint32, "decr"),
        ItemColumn("0x00000014 ", .uint32, "drve"),
        ItemColumn("0x00000015 ", .uint32, "sign"),
        ItemColumn("0x00000016 ", .uint32, "vrfy"),
        ItemColumn("0x00000017 ", .uint32, "snrc"),
        ItemColumn("0x00000018 ", .uint32, "vyrc"),
        ItemColumn("0x00000019 ", .uint32, "wrap"),
        ItemColumn("0x0000001A ", .uint32, "unwp"),
    ]
}
