/// The reason why an enclave failed.
package enum EnclaveError: Error, Equatable, CustomStringConvertible {
    /// The stored device secret is damaged. The vault cannot be opened without the original.
    case damagedDeviceSecret(reason: String)
    case memoryUnavailable
    /// A key, a sealed value or a passcode's binding was changed, or this enclave did not make it.
    case damagedBlob(reason: String)
    /// The authorization for a key, a sealed value or a passcode is wrong.
    case wrongAuthorization
    /// The enclave checks no passcode for at most this many seconds.
    case lockedOut(retryAfter: Int)
    /// A part that the enclave needs is missing on this machine.
    case unavailable(reason: String)
    /// The enclave exists but does not answer.
    case unreachable(reason: String)
    /// The owner has cleared the enclave. The secrets in it are gone.
    case cleared
    /// Another enclave holds the secrets, perhaps in another machine.
    case otherEnclave
    /// The enclave reveals a secret only at one value of a counter, and the counter has another.
    case otherCounterValue
    /// The peer's key is not a point on the curve.
    case invalidPublicKey
    /// The enclave refused for another reason.
    case refused(reason: String)

    package var description: String {
        switch self {
        case .damagedDeviceSecret(let reason):
            "the device secret is damaged (\(reason)); restore the file from a backup, or move the folder away to "
                + "start anew"
        case .memoryUnavailable:
            "no locked memory for key material; raise the limit (ulimit -l) or free memory"
        case .damagedBlob(let reason):
            "a stored key of the enclave is damaged (\(reason)); restore the vault from a backup"
        case .wrongAuthorization: "the enclave does not accept the authorization for this key"
        case .lockedOut(let seconds):
            "the TPM had too many wrong passcodes and checks no more for up to \(seconds) seconds; wait that long"
        case .unavailable(let reason): reason
        case .unreachable(let reason): reason
        case .cleared:
            "this machine's TPM was cleared after the vault was made, and the vault's keys are lost; use a recovery "
                + "key (keychain recovery restore), or move the folder away to start anew"
        case .otherEnclave:
            "the vault was made with another TPM than this machine's, or this one was cleared since; use the machine "
                + "it was made on, or a recovery key (keychain recovery restore)"
        case .otherCounterValue:
            "the TPM refuses a secret of the vault, because the vault's counter in it has another value"
        case .invalidPublicKey: "the peer's public key is not a point on the curve P-256"
        case .refused(let reason): reason
        }
    }
}
