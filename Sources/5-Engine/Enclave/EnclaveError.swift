/// Why an enclave could not do its work.
package enum EnclaveError: Error, Equatable, CustomStringConvertible {
    /// The stored device secret is not one; the vault cannot be opened without the original.
    case damagedDeviceSecret(reason: String)
    case memoryUnavailable
    /// A key, a sealed value or a passcode's binding is not one that this enclave made, or was changed.
    case damagedBlob(reason: String)
    /// What was given to use a key, a sealed value or a passcode with is not the right one.
    case wrongAuthorization
    /// The enclave looks at no passcode for at most so many seconds.
    case lockedOut(retryAfter: Int)
    /// What the enclave needs on this machine is missing.
    case unavailable(reason: String)
    /// The enclave is there and does not answer.
    case unreachable(reason: String)
    /// The enclave's owner has cleared it: the secrets it kept are gone.
    case cleared
    /// The secrets are kept by another enclave, in another machine perhaps.
    case otherEnclave
    /// The peer's key is no point of the curve.
    case invalidPublicKey
    /// The enclave's answer was a refusal that nothing else here stands for.
    case refused(reason: String)

    package var description: String {
        switch self {
        case .damagedDeviceSecret(let reason):
            "the device secret is damaged (\(reason)); restore the file from a backup, or move the folder away to start anew"
        case .memoryUnavailable:
            "no locked memory for key material; raise the limit (ulimit -l) or free memory"
        case .damagedBlob(let reason):
            "a stored key of the enclave is damaged (\(reason)); restore the vault from a backup"
        case .wrongAuthorization: "the enclave does not accept the authorization for this key"
        case .lockedOut(let seconds):
            "the TPM had too many wrong passcodes and looks at none for up to \(seconds) seconds; wait that long"
        case .unavailable(let reason): reason
        case .unreachable(let reason): reason
        case .cleared:
            "this machine's TPM was cleared since the vault was made, and its keys went with that; use a recovery key "
                + "(keychain recovery restore), or move the folder away to start anew"
        case .otherEnclave:
            "the vault was made with another TPM than this machine's, or this one was cleared since; use the machine "
                + "it was made on, or a recovery key (keychain recovery restore)"
        case .invalidPublicKey: "the peer's public key is not a point on the curve P-256"
        case .refused(let reason): reason
        }
    }
}
