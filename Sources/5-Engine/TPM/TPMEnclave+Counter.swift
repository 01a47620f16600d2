import Bytes
import CTSS2
import Enclave
import FoundationEssentials
import SecureMemory

/// Counters in the TPM's non-volatile storage. A new counter starts above every earlier count (TPM 2.0 Library, Part 3,
/// TPM2_NV_Increment), so that removing one and making it again does not turn it back.
extension TPMEnclave {
    package func freeCounter() throws(EnclaveError) -> UInt32 {
        try connection.perform { context in
            var random = SystemRandomNumberGenerator()
            for _ in 0..<Self.mostTaken {
                let counter = UInt32.random(in: TPMConstant.ownersIndices, using: &random)
                if try context.counterAttributes(counter) == nil { return counter }
            }
            throw EnclaveError.refused(reason: "the TPM has no free place for a counter")
        }
    }

    package func makeCounter(_ counter: UInt32) throws(EnclaveError) {
        try connection.perform { context in
            let present = try context.counterAttributes(counter)
            switch present.map({ $0 & ~CounterAttributes.written }) {
            case nil: try context.defineCounter(counter)
            case CounterAttributes.all: break
            default: throw EnclaveError.refused(reason: "the place of the counter in the TPM holds something else")
            }
            // A counter has no value before its first increment.
            if (present ?? 0) & CounterAttributes.written == 0 { try context.incrementCounter(counter) }
        }
    }

    package func value(ofCounter counter: UInt32) throws(EnclaveError) -> UInt64 {
        try connection.perform { context in try context.counterValue(counter) }
    }

    package func advance(counter: UInt32) throws(EnclaveError) {
        let before = try value(ofCounter: counter)
        try connection.perform { context in
            // If `perform` runs this again after a lost connection, it must not count twice.
            guard try context.counterValue(counter) == before else { return }
            try context.incrementCounter(counter)
        }
    }

    package func seal(
        _ secret: LockedBytes, toCounter counter: UInt32, at value: UInt64
    ) throws(EnclaveError) -> Data {
        guard secret.count <= EnclaveLimits.sealedSize else {
            throw .refused(reason: "an enclave seals at most \(EnclaveLimits.sealedSize) bytes")
        }
        let policy = CounterPolicy(counter: counter, value: value)
        return try using { context, parent in
            // A secret that the TPM would never reveal is not made.
            guard try context.indexName(counter) == CounterAttributes.name(of: counter) else {
                throw EnclaveError.refused(reason: "the place of the counter in the TPM holds something else")
            }
            var sensitive = TPM2B_SENSITIVE_CREATE()
            defer { wipeValue(&sensitive) }
            secret.withUnsafeBytes { sensitive.sensitive.data.set($0) }
            return try context.make(Template.sealed(to: policy), &sensitive, under: parent).encoded
        }
    }

    package func unseal(
        _ sealed: Data, toCounter counter: UInt32, at value: UInt64
    ) throws(EnclaveError) -> LockedBytes {
        let policy = CounterPolicy(counter: counter, value: value)
        return try using { context, parent in
            let object = try ObjectBlob(decoding: sealed, context.tss)
            // With a blob that the TPM guards in place of this one, an attacker could cause a lockout.
            guard !object.isGuarded else { throw EnclaveError.damagedBlob(reason: "not one of this enclave's") }
            return try context.using(object, under: parent) { object, session throws(TSSError) in
                try context.satisfying(policy) { policy throws(TSSError) in
                    try session.unsealed(object, authorizedBy: policy, in: context)
                }
            }
        }
    }

    private static let mostTaken = 16
}

extension TPMContext {
    /// Returns the attributes of the index; nil if it is not defined.
    fileprivate func counterAttributes(_ index: TPM2_HANDLE) throws(TSSError) -> TPMA_NV? {
        do throws(TSSError) {
            return try withIndex(index) { object throws(TSSError) in
                var area: UnsafeMutablePointer<TPM2B_NV_PUBLIC>?
                try check(
                    tss.readIndexArea(esys, object, Handle.none, Handle.none, Handle.none, &area, nil),
                    "NV_ReadPublic")
                defer { tss.free(area) }
                return area?.pointee.nvPublic.attributes
            }
        } catch {
            guard error.kind == .noSuchHandle else { throw error }
            return nil
        }
    }

    fileprivate func indexName(_ index: TPM2_HANDLE) throws(TSSError) -> [UInt8] {
        try withIndex(index) { object throws(TSSError) in Array(try name(of: object)) }
    }

    fileprivate func defineCounter(_ index: TPM2_HANDLE) throws(TSSError) {
        var area = TPM2B_NV_PUBLIC()
        area.nvPublic.nvIndex = index
        area.nvPublic.nameAlg = Algorithm.sha256
        area.nvPublic.attributes = CounterAttributes.all
        area.nvPublic.dataSize = UInt16(truncatingIfNeeded: MemoryLayout<UInt64>.size)
        var noPassword = TPM2B_AUTH()
        var object = Handle.none
        try check(
            tss.defineIndex(
                esys, Handle.owner, Handle.password, Handle.none, Handle.none, &noPassword, &area, &object),
            "NV_DefineSpace")
        _ = tss.closeHandle(esys, &object)
    }

    fileprivate func incrementCounter(_ index: TPM2_HANDLE) throws(TSSError) {
        try withIndex(index) { object throws(TSSError) in
            try check(
                tss.incrementIndex(esys, object, object, Handle.password, Handle.none, Handle.none), "NV_Increment")
        }
    }

    fileprivate func counterValue(_ index: TPM2_HANDLE) throws(TSSError) -> UInt64 {
        try withIndex(index) { object throws(TSSError) in
            var data: UnsafeMutablePointer<TPM2B_MAX_NV_BUFFER>?
            try check(
                tss.readIndex(
                    esys, object, object, Handle.password, Handle.none, Handle.none,
                    UInt16(truncatingIfNeeded: MemoryLayout<UInt64>.size), 0, &data), "NV_Read")
            defer { tss.free(data) }
            return data?.pointee.data.reduce(0) { $0 << 8 | UInt64($1) } ?? 0
        }
    }

    private func withIndex<Result>(
        _ index: TPM2_HANDLE, _ body: (ESYS_HANDLE) throws(TSSError) -> Result
    ) throws(TSSError) -> Result {
        var object = Handle.none
        try check(tss.handle(esys, index, Handle.none, Handle.none, Handle.none, &object), "NV_ReadPublic")
        defer { _ = tss.closeHandle(esys, &object) }
        return try body(object)
    }
}
