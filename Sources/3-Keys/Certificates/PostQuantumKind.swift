import Crypto
import FoundationEssentials
import KeychainModel
import SwiftASN1

/// The parameter sets of ML-KEM (FIPS 203) and ML-DSA (FIPS 204) of which the enclave keeps keys. Raw values are names
/// for people.
package enum PostQuantumKind: String, Sendable, CaseIterable {
    case mldsa65, mldsa87, mlkem768, mlkem1024

    /// Apple's number of the type (`kSecAttrKeyTypeMLDSA`, `kSecAttrKeyTypeMLKEM`).
    package var keyType: Int64 {
        switch self {
        case .mldsa65, .mldsa87: 111
        case .mlkem768, .mlkem1024: 110
        }
    }

    /// What Apple's constants have as the size of such a key (`kSecAttrKeySizeMLDSA65` and its like).
    package var keySize: Int64 {
        switch self {
        case .mldsa65: 65
        case .mldsa87: 87
        case .mlkem768: 768
        case .mlkem1024: 1024
        }
    }

    package init?(keyType: Int64, keySize: Int64) {
        guard let kind = Self.allCases.first(where: { $0.keyType == keyType && $0.keySize == keySize }) else {
            return nil
        }
        self = kind
    }

    /// The kind of the key that a stored item has.
    package init?(_ attributes: ItemAttributes) {
        guard case .number(let type) = attributes[.type], case .number(let size) = attributes["bsiz"] else {
            return nil
        }
        self.init(keyType: type, keySize: size)
    }

    package var enclaveKind: EnclaveKeyKind {
        switch self {
        case .mldsa65: .mldsa65
        case .mldsa87: .mldsa87
        case .mlkem768: .mlkem768
        case .mlkem1024: .mlkem1024
        }
    }

    package init?(_ kind: EnclaveKeyKind) {
        guard let known = Self.allCases.first(where: { $0.enclaveKind == kind }) else { return nil }
        self = known
    }

    /// Of the algorithm: NIST's register of algorithms (RFC 9881, RFC 9935).
    private var objectIdentifier: ASN1ObjectIdentifier {
        switch self {
        case .mldsa65: [2, 16, 840, 1, 101, 3, 4, 3, 18]
        case .mldsa87: [2, 16, 840, 1, 101, 3, 4, 3, 19]
        case .mlkem768: [2, 16, 840, 1, 101, 3, 4, 4, 2]
        case .mlkem1024: [2, 16, 840, 1, 101, 3, 4, 4, 3]
        }
    }

    /// Returns a public key as a SubjectPublicKeyInfo (RFC 5280, 4.1.2.7), in DER.
    package func subjectPublicKeyInfo(_ publicKey: Data) throws(CertificateError) -> Data {
        try KeyData.encoding("public key info") { serializer in
            try serializer.appendConstructedNode(identifier: .sequence) { info in
                try info.appendConstructedNode(identifier: .sequence) { try $0.serialize(objectIdentifier) }
                try info.serialize(ASN1BitString(bytes: Array(publicKey)[...]))
            }
        }
    }

    /// Returns the attributes of a stored half, by which it is found and described.
    package func storedAttributes(_ publicKey: Data, isPrivate: Bool) -> ItemAttributes {
        var attributes: ItemAttributes = [
            .keyClass: .number(isPrivate ? 1 : 0), .applicationLabel: .data(Self.hash(of: publicKey)),
            .type: .number(keyType), "bsiz": .number(keySize), "esiz": .number(keySize),
        ]
        if isPrivate { attributes[.tokenID] = .string(EnclaveKeyRecord.tokenID) }
        return attributes
    }

    /// SHA-1 of the public key, which is what both halves have as `kSecAttrApplicationLabel`.
    package static func hash(of publicKey: Data) -> Data { Data(Insecure.SHA1.hash(data: publicKey)) }
}
