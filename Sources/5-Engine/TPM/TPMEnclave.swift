import CTSS2
import Crypto
import Enclave
import FoundationEssentials
import SecureMemory
import Synchronization

/// An enclave in a TPM 2.0. Its device secret is a key that the TPM makes and never reveals.
///
/// A copy of the vault's folder is useless on another machine, and the TPM limits the tries of the passcode.
package final class TPMEnclave: Enclave {
    package var kind: EnclaveKind { .tpm2 }

    package let connection: TPMConnection
    let record: DeviceRecord
    /// The keys that the TPM derived from the device secret, one for each salt. They are remembered, because every key
    /// that is derived from them needs the same protection as they do.
    private let roots = Mutex<[Data: LockedBytes]>([:])

    private init(_ record: DeviceRecord, _ connection: TPMConnection) {
        self.record = record
        self.connection = connection
    }

    /// Makes an enclave with a new device secret, which exists only as long as this object unless ``encoded()`` is
    /// stored.
    package static func make(_ connection: TPMConnection) throws(EnclaveError) -> TPMEnclave {
        let record = try connection.perform { context in
            let identity = try context.identity()
            let parent: TPMContext.Parent
            do throws(TSSError) {
                parent = try context.chooseParent()
            } catch {
                guard error.kind == .wrongAuthorization else { throw error }
                throw EnclaveError.unavailable(
                    reason: "the TPM's owner has set a password and left no storage key at 0x81000001; "
                        + "ask the owner to make one (tpm2_createprimary, tpm2_evictcontrol)")
            }
            var sensitive = TPM2B_SENSITIVE_CREATE()
            let secret = try context.make(Template.deviceSecret, &sensitive, under: parent.object)
            return DeviceRecord(parent: parent.name, identity: identity, secret: secret.encoded)
        }
        return TPMEnclave(record, connection)
    }

    /// Opens a stored enclave. Its first use shows whether its TPM is there.
    package convenience init(decoding encoded: Data, _ connection: TPMConnection) throws(EnclaveError) {
        self.init(try DeviceRecord(decoding: encoded), connection)
    }

    package func encoded() -> Data { record.encoded() }

    package func forget() { connection.endConversation() }

    package func close() { connection.close() }

    // MARK: Derivation

    /// Returns HKDF-SHA256 (RFC 5869) with this key material: a code that the TPM computes with the device secret,
    /// followed by `input`.
    package func deriveKey(
        tangling input: LockedBytes?, salt: Data, context: String
    ) throws(EnclaveError) -> SymmetricKey {
        let root = try root(for: salt)
        let material = try input.map { second throws(EnclaveError) in try joined(root, second) } ?? root
        defer { wipeRecentlyFreed(.derivation) }
        return material.withUnsafeBytes {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: SymmetricKey(data: $0), salt: salt, info: Data(context.utf8), outputByteCount: 32)
        }
    }

    private func root(for salt: Data) throws(EnclaveError) -> LockedBytes {
        if let root = roots.withLock({ $0[salt] }) { return root }
        let message = Data("swift-keychain/v1/tpm-root".utf8) + salt
        let secret = record.secret
        let root = try using { context, parent in
            let object = try ObjectBlob(decoding: secret, context.tss)
            return try context.using(object, under: parent) { key, session throws(TSSError) in
                try session.authenticationCode(of: message, key: key, in: context)
            }
        }
        roots.withLock { roots in
            // A vault has one salt at a time. The keys of erased salts are not kept.
            if roots.count >= 4 { roots.removeAll() }
            roots[salt] = root
        }
        return root
    }

    func joined(_ first: LockedBytes, _ second: LockedBytes) throws(EnclaveError) -> LockedBytes {
        do {
            return try LockedBytes(joining: first, second)
        } catch {
            throw .memoryUnavailable
        }
    }

    /// Runs `body` with the storage key above this enclave's objects.
    ///
    /// - Throws: ``EnclaveError/cleared`` or ``EnclaveError/otherEnclave`` if there is no such key.
    func using<Result: Sendable>(
        _ body: @escaping @Sendable (TPMContext, ESYS_HANDLE) throws -> Result
    ) throws(EnclaveError) -> Result {
        let (name, identity) = (record.parent, record.identity)
        return try connection.perform { context in
            guard let parent = try context.parent(named: name) else {
                guard let identity, let present = try context.identity() else { throw EnclaveError.otherEnclave }
                throw present == identity ? EnclaveError.cleared : .otherEnclave
            }
            return try body(context, parent)
        }
    }
}
