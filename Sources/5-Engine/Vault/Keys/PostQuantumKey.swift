import Bytes
import Crypto
import FoundationEssentials
import KeychainModel
import SecureMemory
import VaultInterface

/// ML-KEM (FIPS 203) and ML-DSA (FIPS 204) by swift-crypto, from seeds that the enclave seals: no TPM has such keys.
/// The seed is in locked memory while it is used, and what ciphers leave behind is wiped.
enum PostQuantumKey {
    static func seedSize(of kind: EnclaveKeyKind) -> Int {
        kind == .mlkem768 || kind == .mlkem1024 ? 64 : 32
    }

    static func publicKey(of kind: EnclaveKeyKind, seed: LockedBytes) throws -> Data {
        try using(seed) { seed in
            switch kind {
            case .mlkem768:
                try MLKEM768.PrivateKey(seedRepresentation: seed, publicKey: nil).publicKey.rawRepresentation
            case .mlkem1024:
                try MLKEM1024.PrivateKey(seedRepresentation: seed, publicKey: nil).publicKey.rawRepresentation
            case .mldsa65:
                try MLDSA65.PrivateKey(seedRepresentation: seed, publicKey: nil).publicKey.rawRepresentation
            case .mldsa87:
                try MLDSA87.PrivateKey(seedRepresentation: seed, publicKey: nil).publicKey.rawRepresentation
            case .p256Signing, .p256KeyAgreement, .p256: throw Self.wrongKind
            }
        }
    }

    static func decapsulate(_ capsule: Data, _ kind: EnclaveKeyKind, seed: LockedBytes) throws -> Data {
        try using(seed) { seed in
            let secret =
                switch kind {
                case .mlkem768: try MLKEM768.PrivateKey(seedRepresentation: seed, publicKey: nil).decapsulate(capsule)
                case .mlkem1024: try MLKEM1024.PrivateKey(seedRepresentation: seed, publicKey: nil).decapsulate(capsule)
                default: throw Self.wrongKind
                }
            return secret.withUnsafeBytes { Data.wipedWhenFreed(Data($0)) }
        }
    }

    static func signature(
        of message: Data, context: Data, _ kind: EnclaveKeyKind, seed: LockedBytes
    ) throws -> Data {
        try using(seed) { seed in
            switch kind {
            case .mldsa65:
                try MLDSA65.PrivateKey(seedRepresentation: seed, publicKey: nil).signature(
                    for: message, context: context)
            case .mldsa87:
                try MLDSA87.PrivateKey(seedRepresentation: seed, publicKey: nil).signature(
                    for: message, context: context)
            default: throw Self.wrongKind
            }
        }
    }

    private static let wrongKind = VaultError.unsupported(reason: "the enclave's key is not made for this use")

    private static func using<Result>(_ seed: LockedBytes, _ body: (Data) throws -> Result) throws -> Result {
        defer { wipeRecentlyFreed(.cipher) }
        do {
            return try seed.withUnsafeBytes { bytes in
                var copy = Data(bytes)
                defer { copy.wipe() }
                return try body(copy)
            }
        } catch let error as VaultError {
            throw error
        } catch {
            // A capsule or a context of the wrong length.
            throw VaultError.invalidRequest(reason: "the enclave's key cannot be used with this input")
        }
    }
}
