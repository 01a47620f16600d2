import Bytes
import CTSS2
import Crypto
import Enclave
import FoundationEssentials
import SecureMemory

/// The passcode guards a random secret that is sealed in the TPM. Its authorization is derived from the stretched
/// passcode.
///
/// The TPM counts wrong passcodes and refuses to check more after too many, for every caller and every program. The
/// passcode's key comes from both the secret and the stretched passcode, so that a TPM that was taken apart does not
/// reveal the keys, either.
extension TPMEnclave {
    package func guardPasscode(
        stretched: LockedBytes
    ) throws(EnclaveError) -> (binding: Data, key: LockedBytes) {
        let secret: LockedBytes
        do {
            secret = try LockedBytes.random(count: 32)
        } catch {
            throw .memoryUnavailable
        }
        let authorization = Self.authorization(for: stretched)
        let binding = try using { context, parent in
            var sensitive = TPM2B_SENSITIVE_CREATE()
            defer { wipeValue(&sensitive) }
            sensitive.set(authorization, secret)
            return try context.make(Template.guarded, &sensitive, under: parent).encoded
        }
        return (binding, try joined(secret, stretched))
    }

    package func passcodeKey(stretched: LockedBytes, binding: Data) throws(EnclaveError) -> LockedBytes {
        let authorization = Self.authorization(for: stretched)
        let secret = try using { context, parent in
            let object = try ObjectBlob(decoding: binding, context.tss)
            guard object.isGuarded else { throw EnclaveError.damagedBlob(reason: "the TPM would not guard it") }
            do throws(TSSError) {
                return try context.using(object, under: parent, authorization: authorization) {
                    object, session throws(TSSError) in try session.unsealed(object, in: context)
                }
            } catch {
                guard error.kind == .lockedOut else { throw error }
                throw EnclaveError.lockedOut(retryAfter: max(1, Int(try context.lockoutState().policy.recoveryTime)))
            }
        }
        return try joined(secret, stretched)
    }

    private static func authorization(for stretched: LockedBytes) -> SymmetricKey {
        defer { wipeRecentlyFreed(.derivation) }
        return stretched.withUnsafeBytes {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: SymmetricKey(data: $0), info: Data("swift-keychain/v1/tpm-passcode".utf8),
                outputByteCount: 32)
        }
    }
}

extension TPM2B_SENSITIVE_CREATE {
    mutating func set(_ authorization: SymmetricKey, _ secret: LockedBytes?) {
        authorization.withUnsafeBytes { sensitive.userAuth.set($0) }
        secret?.withUnsafeBytes { sensitive.data.set($0) }
    }
}
