import Access
import FoundationEssentials
import KeychainModel
import VaultInterface

extension RemoteVault {
    package func makeEnclaveKey(
        _ kind: EnclaveKeyKind, accessControl: AccessControl, options: AuthenticationOptions, as client: Client
    ) throws(VaultError) -> EnclaveKeyRecord {
        let reply = try call(.makeEnclaveKey(kind, accessControl, options), as: client).reply
        guard case .enclaveKey(let key) = reply else { throw Self.nonsense }
        return key
    }

    package func useEnclaveKey(
        _ key: EnclaveKeyRecord, for operation: EnclaveKeyOperation, options: AuthenticationOptions,
        as client: Client
    ) throws(VaultError) -> Data {
        let reply = try call(.useEnclaveKey(key, operation, options), as: client).reply
        guard case .bytes(let bytes) = reply else { throw Self.nonsense }
        return bytes
    }
}
