import CTSS2
import Crypto
import Enclave
import Foundation
import SecureMemory

/// The commands that use what was loaded.
extension TPMContext {
    func start() throws(TSSError) {
        try check(tss.startup(esys, TPMConstant.startupClear), "Startup")
    }

    /// Makes the TPM's state durable, as before it loses power. Without this each stop after a guarded object was used
    /// counts as a wrong authorization (TPM 2.0 Library, Part 1, "Dictionary Attack Protection").
    func shutDown() throws(TSSError) {
        try check(
            tss.shutdown(esys, Handle.none, Handle.none, Handle.none, TPMConstant.startupClear), "Shutdown")
        forgetGuardedObjects()
    }

    /// HMAC-SHA256 of `message` under a loaded key; at most 1,024 bytes.
    func authenticationCode(
        of message: Data, key: ESYS_HANDLE, session: ESYS_HANDLE
    ) throws(TSSError) -> LockedBytes {
        var buffer = TPM2B_MAX_BUFFER(message)
        var code: UnsafeMutablePointer<TPM2B_DIGEST>?
        try check(
            tss.hmac(esys, key, session, Handle.none, Handle.none, &buffer, Algorithm.sha256, &code), "HMAC")
        return try take(code, "HMAC") { try $0.withUsedBytes { try LockedBytes(copying: $0) } }
    }

    /// r and s of an ECDSA signature, 32 bytes each.
    func signature(of digest: Data, key: ESYS_HANDLE, session: ESYS_HANDLE) throws(TSSError) -> Data {
        var digest = TPM2B_DIGEST(digest)
        var scheme = TPMT_SIG_SCHEME()
        scheme.scheme = Algorithm.ecdsa
        var details = TPMU_SIG_SCHEME()
        details.ecdsa = TPMS_SCHEME_HASH(hashAlg: Algorithm.sha256)
        scheme.details = details
        // The digest is not of a message that the TPM has seen: an empty ticket.
        var ticket = TPMT_TK_HASHCHECK()
        ticket.tag = TPMConstant.hashCheckTicket
        ticket.hierarchy = TPMConstant.nullHierarchy
        var signature: UnsafeMutablePointer<TPMT_SIGNATURE>?
        try check(
            tss.sign(esys, key, session, Handle.none, Handle.none, &digest, &scheme, &ticket, &signature), "Sign")
        return try take(signature, "Sign") {
            let ecdsa = $0.signature.ecdsa
            return ecdsa.signatureR.number(count: 32) + ecdsa.signatureS.number(count: 32)
        }
    }

    /// The x coordinate of the product of a loaded key and `peer`, an uncompressed point: 32 bytes.
    func product(with peer: Data, key: ESYS_HANDLE, session: ESYS_HANDLE) throws(TSSError) -> LockedBytes {
        var point = TPM2B_ECC_POINT()
        point.point.x = TPM2B_ECC_PARAMETER(Data(peer.dropFirst().prefix(32)))
        point.point.y = TPM2B_ECC_PARAMETER(Data(peer.suffix(32)))
        var product: UnsafeMutablePointer<TPM2B_ECC_POINT>?
        try check(
            tss.multiply(esys, key, session, Handle.none, Handle.none, &point, &product), "ECDH_ZGen")
        return try take(product, "ECDH_ZGen") { product in
            try product.point.x.withUsedBytes { x in
                try LockedBytes(count: 32) { shared in
                    UnsafeMutableRawBufferPointer(rebasing: shared[max(0, 32 - x.count)...]).copyMemory(
                        from: UnsafeRawBufferPointer(rebasing: x.suffix(32)))
                }
            }
        }
    }

    func unsealed(_ object: ESYS_HANDLE, session: ESYS_HANDLE) throws(TSSError) -> LockedBytes {
        var secret: UnsafeMutablePointer<TPM2B_SENSITIVE_DATA>?
        try check(tss.unseal(esys, object, session, Handle.none, Handle.none, &secret), "Unseal")
        return try take(secret, "Unseal") { try $0.withUsedBytes { try LockedBytes(copying: $0) } }
    }

    /// What `read` makes of an answer, which is wiped and given back.
    private func take<Answer, Result>(
        _ answer: UnsafeMutablePointer<Answer>?, _ command: String, _ read: (inout Answer) throws -> Result
    ) throws(TSSError) -> Result {
        guard let answer else { throw .memoryUnavailable }
        defer {
            wipeValue(&answer.pointee)
            tss.free(answer)
        }
        do {
            return try read(&answer.pointee)
        } catch {
            throw .memoryUnavailable
        }
    }

    // MARK: Properties and the lockout

    /// The TPM's variable properties (Part 2, section 6.13) from `first` on.
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

    // MARK: Remains of others

    /// Flushes what killed programs left behind in a TPM without a resource manager, where objects and sessions live
    /// until somebody does. Only where no two can be connected at a time.
    func sweep() throws(TSSError) {
        // Part 2, section 7.2: the numbers of loaded sessions and of transient objects begin here.
        for first: UInt32 in [0x0200_0000, 0x8000_0000] {
            let data = try capability(TPMConstant.handlesCapability, from: first, count: 254)
            defer { tss.free(data) }
            let handles = withUnsafeBytes(of: &data.pointee.data.handles.handle) {
                Array($0.bindMemory(to: UInt32.self).prefix(Int(data.pointee.data.handles.count)))
            }
            for handle in handles { try flush(number: handle) }
        }
    }

    private func flush(number: TPM2_HANDLE) throws(TSSError) {
        let size = tss.systemContextSize(0)
        let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        defer { memory.deallocate() }
        let system = OpaquePointer(memory)
        // The version of the interface that the stack's headers are of (tss2_common.h).
        var version = TSS2_ABI_VERSION(tssCreator: 1, tssFamily: 2, tssLevel: 1, tssVersion: 108)
        try check(tss.initializeSystem(system, size, transport, &version), "FlushContext")
        defer { tss.finalizeSystem(system) }
        try check(tss.flushByNumber(system, number), "FlushContext")
    }
}
