import KeychainModel

/// A key as `--json` shows it.
struct KeySummary: Encodable {
    var label: AttributeText?
    var tag: AttributeText?
    var type: String
    /// `software`, `enclave` or `public`; `locked` where the lock hides which of the first two.
    var kept: String
    var hash: String
    var group: String
    var accessible: String?
    var requires: [String]?

    init(_ pair: KeyPair) {
        label = pair.label.map(AttributeText.init)
        tag = pair.tag.map(AttributeText.init)
        type = pair.typeName
        kept = Self.kept(pair)
        hash = pair.hexadecimalHash
        group = pair.group
        accessible = pair.accessControl.map { ProtectionName($0.protection).rawValue }
        requires = ItemRequirement.names(in: pair.accessControl?.flags)
    }

    static func kept(_ pair: KeyPair) -> String {
        switch pair.privateHalf {
        case .absent: "public"
        case .locked: "locked"
        case .withheld: "software"
        case .found: pair.isInEnclave ? "enclave" : "software"
        }
    }
}
