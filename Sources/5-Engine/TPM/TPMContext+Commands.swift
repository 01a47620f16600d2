import Bytes
import CTSS2
import Crypto
import Enclave
import FoundationEssentials
import SecureMemory

/// Commands that use no loaded objects.
extension TPMContext {
    func start() throws(TSSError) {
        try check(tss.startup(esys, TPMConstant.startupClear), "Startup")
    }

    /// Makes the TPM's state durable before a loss of power. Without this, each stop after the use of a guarded object
    /// counts as a wrong authorization (TPM 2.0 Library, Part 1, "Dictionary Attack Protection").
    func shutDown() throws(TSSError) {
        try check(
            tss.shutdown(esys, Handle.none, Handle.none, Handle.none, TPMConstant.startupClear), "Shutdown")
        forgetGuardedObjects()
    }

    // MARK: Properties and the lockout

    /// Returns the TPM's variable properties (Part 2, section 6.13) from `first` on.
    func properties(from first: UInt32, count: UInt32) throws(TSSError) -> [UInt32: UInt32] {
        let data = try capability(TPMConstant.propertiesCapability, from: first, count: count)
        defer { tss.free(data) }
        var properties: [UInt32: UInt32] = [:]
        withUnsafeBytes(of: &data.pointee.data.tpmProperties.tpmProperty) { list in
            let known = list.bindMemory(to: TPMS_TAGGED_PROPERTY.self)
            for property in known.prefix(Int(data.pointee.data.tpmProperties.count)) {
                properties[property.property] = property.value
            }
        }
        return properties
    }

    private func capability(
        _ capability: UInt32, from first: UInt32, count: UInt32
    ) throws(TSSError) -> UnsafeMutablePointer<TPMS_CAPABILITY_DATA> {
        var more: UInt8 = 0
        var data: UnsafeMutablePointer<TPMS_CAPABILITY_DATA>?
        try check(
            tss.capability(
                esys, Handle.none, Handle.none, Handle.none, capability, first, count, &more, &data), "GetCapability")
        guard let data else { throw .memoryUnavailable }
        return data
    }

    func setLockout(_ policy: LockoutPolicy, session: ESYS_HANDLE) throws(TSSError) {
        try check(
            tss.setLockoutParameters(
                esys, Handle.lockout, session, Handle.none, Handle.none, policy.tries, policy.recoveryTime,
                policy.ownerRecoveryTime), "DictionaryAttackParameters")
    }

    func setLockoutPassword(_ password: SymmetricKey, session: ESYS_HANDLE) throws(TSSError) {
        var given = TPM2B_AUTH()
        defer { wipeValue(&given) }
        password.withUnsafeBytes { given.set($0) }
        try check(
            tss.changeHierarchyAuthorization(
                esys, Handle.lockout, session, Handle.none, Handle.none, &given), "HierarchyChangeAuth")
    }

    // MARK: Remains of other programs

    /// Flushes what killed programs left in a TPM without a resource manager, where objects and sessions stay until a
    /// program flushes them. Only safe while no other program can be connected.
    func sweep() throws(TSSError) {
        // Part 2, section 7.2: the handles of loaded sessions and of transient objects begin here.
        for first: UInt32 in [0x0200_0000, 0x8000_0000] {
            let data = try capability(TPMConstant.handlesCapability, from: first, count: 254)
            defer { tss.free(data) }
            let handles = withUnsafeBytes(of: &data.pointee.data.handles.handle) {
                Array($0.bindMemory(to: UInt32.self).prefix(Int(data.pointee.data.handles.count)))
            }
            for handle in handles { flush(handle) }
        }
    }
}
