import CommandKit
import Enclave
import KeychainModel
import VaultKeys

/// A key as `--json` shows it.
struct KeySummary: Encodable {
    var label: AttributeText?
    var tag: AttributeText?
    var type: String
    /// `software`, `software enclave`, `tpm2` or `public`; `locked` if the lock hides which of the first three it is.
    var kept: String
    var hash: String
    var group: String
    var accessible: String?
    var requires: [String]?

    /// - Parameter enclave: The enclave of the vault, by its name.
    init(_ pair: KeyPair, enclave: String) {
        label = pair.label.map(AttributeText.init)
        tag = pair.tag.map(AttributeText.init)
        type = pair.typeName
        kept = Self.kept(pair, enclave: enclave)
        hash = pair.hexadecimalHash
        group = pair.group
        accessible = pair.accessControl.map { ProtectionName($0.protection).rawValue }
        requires = ItemRequirement.names(in: pair.accessControl?.flags)
    }

    static func kept(_ pair: KeyPair, enclave: String) -> String {
        switch pair.privateHalf {
        case .absent: "public"
        case .locked: "locked"
        case .withheld: "software"
        case .found:
            !pair.isInEnclave ? "software" : enclave == EnclaveKind.software.name ? "software enclave" : enclave
        }
    }
}
