import Certificates
import Foundation
import KeyCryptography

/// The texts with which Apple's systems describe failures of keys, as far as they are known and name no number of
/// Apple's library but one that programs compare (SecKey.m, SecKeyAdaptors.m and SecECKey.m; Apple, Security-61901).
struct KeyFailureText {
    let key: SecKey
    let algorithm: SecKeyAlgorithm
    let operation: SecKeyOperationType

    private var name: String { algorithm.rawValue.description }

    /// Nil where Apple's text is not known.
    func text(for failure: any Error) -> String? {
        switch failure as? KeyError {
        case .unsupported?: "\(name): algorithm not supported by the key \(key.debugDescription)"
        // corecrypto, Apple's library of ciphers, has this number for bytes that are no padding.
        case .undecipherable? where Self.padded.contains(algorithm): "RSAdecrypt wrong input (err -27)"
        case .invalidInput? where operation == .sign: signature
        default: nil
        }
    }

    /// Why a digest is not signed.
    private var signature: String? {
        if name.hasPrefix("algid:sign:ECDSA:") { return "bad digest size for signing with algorithm \(name)" }
        if name.hasPrefix("algid:sign:RSA:digest-PSS:") { return "RSASSA-PSS incompatible algorithm for key size" }
        return name.hasPrefix("algid:sign:RSA:digest-PKCS1v15:") ? "RSAsign wrong input data length" : nil
    }

    /// What is said of a signature that is not the key's.
    static func mismatch(of key: SecKey) -> String {
        "\(key.keyData.type == .rsa ? "RSA" : "EC") signature verification failed, no match"
    }

    /// What is said of data that is no key; nil for kinds of keys that are not known.
    static func creation(type: Int, keyClass: Int) -> String? {
        let types = [KeyData.KeyType.rsa.rawValue: "RSA", KeyData.KeyType.ellipticCurve.rawValue: "EC"]
        let classes = [KeyData.KeyClass.public.rawValue: "public", KeyData.KeyClass.private.rawValue: "private"]
        guard let type = types[type], let keyClass = classes[keyClass] else { return nil }
        return "\(type) \(keyClass) key creation from data failed"
    }

    /// The algorithms that fail because of their padding.
    private static let padded: Set<SecKeyAlgorithm> = [
        .rsaEncryptionPKCS1, .rsaEncryptionOAEPSHA1, .rsaEncryptionOAEPSHA224, .rsaEncryptionOAEPSHA256,
        .rsaEncryptionOAEPSHA384, .rsaEncryptionOAEPSHA512,
    ]
}
