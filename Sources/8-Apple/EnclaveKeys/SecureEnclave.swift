import ProcessVault
import VaultInterface

/// Keys that are made in the vault's enclave and used without leaving it, with the names that Apple's CryptoKit has.
///
/// With a TPM as the vault's enclave a P-256 key never leaves the TPM. With the software enclave it is as safe as the
/// vault's folder and passcode; `keychain status` says which of the two it is. No TPM has post-quantum keys: their
/// seeds are sealed by the enclave, and the vault computes with them in locked memory.
///
/// The program stores a key's `dataRepresentation`. It is not a secret: it can be used only on this machine and with
/// this vault, while the key's protection class is open, and by a person who satisfies its access control.
public enum SecureEnclave {
    /// Whether there is a vault to make keys in.
    public static var isAvailable: Bool { (try? VaultSession.current()) != nil }

    /// Keys on the curve P-256 (FIPS 186-5).
    public enum P256 {
        /// For signatures.
        public enum Signing {}
        /// For agreeing on a secret.
        public enum KeyAgreement {}
    }

    /// ML-KEM with the parameters of category 3 (FIPS 203).
    public enum MLKEM768 {}
    /// ML-KEM with the parameters of category 5 (FIPS 203).
    public enum MLKEM1024 {}
    /// ML-DSA with the parameters of category 3 (FIPS 204).
    public enum MLDSA65 {}
    /// ML-DSA with the parameters of category 5 (FIPS 204).
    public enum MLDSA87 {}
}
