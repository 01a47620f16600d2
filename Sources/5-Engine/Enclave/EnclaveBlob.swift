import FoundationEssentials

/// A stored key or sealed secret, which is useless without its enclave.
/// Documentation/Specify/Formats/Enclave.md specifies the format.
package struct EnclaveBlob: Sendable, Hashable {
    package enum Content: UInt8, Sendable {
        case sealed = 0
        case signingKey = 1
        case agreementKey = 2
        case signingAndAgreementKey = 3
    }

    package let enclave: EnclaveKind
    package let content: Content
    /// Bytes that only the enclave can interpret.
    package let body: Data

    package init(enclave: EnclaveKind, content: Content, body: Data) {
        self.enclave = enclave
        self.content = content
        self.body = body
    }

    /// The uses of a key; empty for a sealed secret.
    package var uses: EnclaveKeyUses { EnclaveKeyUses(rawValue: content.rawValue) }

    package func encoded() -> Data { header + body }

    /// The bytes that `body` is bound to: magic, version, enclave, content.
    package var header: Data {
        Data(Self.magic + [Self.version, enclave.rawValue, content.rawValue])
    }

    package init(decoding encoded: Data) throws(EnclaveError) {
        let bytes = [UInt8](encoded)
        guard bytes.count > Self.headerSize, bytes.count <= EnclaveLimits.blobSize, bytes.starts(with: Self.magic)
        else { throw .damagedBlob(reason: "not a blob of an enclave") }
        guard bytes[6] == Self.version else { throw .damagedBlob(reason: "unknown version \(bytes[6])") }
        guard let enclave = EnclaveKind(rawValue: bytes[7]) else {
            throw .damagedBlob(reason: "unknown enclave \(bytes[7])")
        }
        guard let content = Content(rawValue: bytes[8]) else {
            throw .damagedBlob(reason: "unknown content \(bytes[8])")
        }
        self.init(enclave: enclave, content: content, body: Data(bytes[Self.headerSize...]))
    }

    /// Checks that an enclave of `kind` made this blob, and that it permits `use`; nil for a sealed secret.
    package func check(madeBy kind: EnclaveKind, for use: EnclaveKeyUses?) throws(EnclaveError) {
        guard enclave == kind else { throw .otherEnclave }
        guard let use else {
            guard content == .sealed else { throw .damagedBlob(reason: "a key where a sealed secret was expected") }
            return
        }
        guard content != .sealed else { throw .damagedBlob(reason: "a sealed secret where a key was expected") }
        guard uses.isSuperset(of: use) else { throw .refused(reason: "the enclave's key is not made for this use") }
    }

    private static let magic = [UInt8]("SKEKEY".utf8)
    private static let version: UInt8 = 1
    private static let headerSize = 9
}
