import Attestation
import Bytes
import CTSS2
import Crypto
import Enclave
import FoundationEssentials

/// Attests keys: certifies them with a key that signs only statements of the TPM itself (TPM 2.0 Library, Part 3,
/// TPM2_Certify).
extension TPMEnclave {
    package func attest(
        _ key: EnclaveBlob, nonce: Data, authorization: SymmetricKey
    ) throws(EnclaveError) -> KeyAttestation {
        try key.check(madeBy: .tpm2, for: [])
        guard KeyAttestation.nonceSizes.contains(nonce.count) else {
            throw .refused(reason: "a nonce of \(nonce.count) bytes is not one that every TPM takes")
        }
        let area = try Self.publicArea(of: key)
        let endorsement = try connection.perform { context in try context.endorsement() }
        return try using(key, authorization) { context, object, session throws(TSSError) in
            try context.withEndorsed(Template.attestationKey) { attester, made throws(TSSError) in
                let said = try session.certification(of: object, by: attester, nonce: nonce, in: context)
                return KeyAttestation(
                    key: area, attestationKey: made,
                    endorsementKey: endorsement.key, statement: said.statement, signature: said.signature,
                    rsaCertificate: endorsement.rsaCertificate,
                    ellipticCertificate: endorsement.ellipticCertificate)
            }
        }
    }

    /// Returns the first of a key's two areas, TPM2B_PUBLIC.
    private static func publicArea(of key: EnclaveBlob) throws(EnclaveError) -> Data {
        let bytes = [UInt8](key.body)
        let size = bytes.count < 2 ? 0 : 2 + Int(bytes[0]) << 8 + Int(bytes[1])
        guard size > 2, size <= bytes.count else { throw .damagedBlob(reason: "its public area is invalid") }
        return Data(bytes[..<size])
    }
}

extension TPMContext {
    /// The identity of this TPM, from its maker.
    fileprivate struct Endorsement: Sendable {
        /// TPM2B_PUBLIC.
        var key: Data
        /// X.509 in DER; empty if the TPM stores none.
        var rsaCertificate: Data
        var ellipticCertificate: Data
    }

    fileprivate func endorsement() throws -> Endorsement {
        do throws(TSSError) {
            return Endorsement(
                key: try withEndorsed(Template.endorsementKey) { _, area in area },
                rsaCertificate: try certificate(TPMConstant.rsaCertificate) ?? Data(),
                ellipticCertificate: try certificate(TPMConstant.ellipticCertificate) ?? Data())
        } catch {
            guard error.kind == .wrongAuthorization else { throw error }
            throw EnclaveError.refused(
                reason: "the TPM's owner has set a password for the endorsement hierarchy, under which the attestation "
                    + "key is made: ask the owner to take it away (tpm2_changeauth -c e -p PASSWORD)")
        }
    }

    /// Makes the primary key of the endorsement hierarchy from `template`, passes it to `body` with its public area
    /// (TPM2B_PUBLIC), and flushes it.
    fileprivate func withEndorsed<Result>(
        _ template: TPM2B_PUBLIC, _ body: (LoadedObject, Data) throws(TSSError) -> Result
    ) throws(TSSError) -> Result {
        var object = Handle.none
        var sensitive = TPM2B_SENSITIVE_CREATE()
        var template = template
        var outside = TPM2B_DATA()
        var registers = TPML_PCR_SELECTION()
        var area: UnsafeMutablePointer<TPM2B_PUBLIC>?
        try check(
            tss.createPrimary(
                esys, Handle.endorsement, Handle.password, Handle.none, Handle.none, &sensitive, &template, &outside,
                &registers, &object, &area, nil, nil, nil), "CreatePrimary")
        defer {
            _ = tss.flush(esys, object)
            tss.free(area)
        }
        guard let area else { throw .memoryUnavailable }
        let encoded = try encoded(area)
        let loaded = LoadedObject(
            handle: try number(of: object), name: ObjectBlob.name(ofPublicArea: Array(encoded)[2...]),
            authorization: nil)
        return try body(loaded, encoded)
    }

    // MARK: Structures

    private func encoded(_ area: UnsafePointer<TPM2B_PUBLIC>) throws(TSSError) -> Data {
        var bytes = [UInt8](repeating: 0, count: MemoryLayout<TPM2B_PUBLIC>.size)
        var offset = 0
        try check(tss.marshalPublic(area, &bytes, bytes.count, &offset), "Marshal")
        return Data(bytes[..<offset])
    }

    // MARK: Certificates

    /// Returns a certificate in the TPM's non-volatile storage; nil if there is none that everyone or the owner may
    /// read.
    private func certificate(_ index: TPM2_HANDLE) throws(TSSError) -> Data? {
        do throws(TSSError) {
            var object = Handle.none
            try check(tss.handle(esys, index, Handle.none, Handle.none, Handle.none, &object), "NV_ReadPublic")
            defer { _ = tss.closeHandle(esys, &object) }
            return try contents(object).flatMap(Self.document)
        } catch {
            // The maker stores certificates there voluntarily, so their absence is no error.
            guard error.kind == .connectionLost else { return nil }
            throw error
        }
    }

    private func contents(_ index: ESYS_HANDLE) throws(TSSError) -> Data? {
        var area: UnsafeMutablePointer<TPM2B_NV_PUBLIC>?
        try check(
            tss.readIndexArea(esys, index, Handle.none, Handle.none, Handle.none, &area, nil), "NV_ReadPublic")
        defer { tss.free(area) }
        guard let area else { throw .memoryUnavailable }
        let attributes = area.pointee.nvPublic.attributes
        // Part 2, section 13.4: TPMA_NV_AUTHREAD, TPMA_NV_OWNERREAD.
        guard attributes & (1 << 18 | 1 << 17) != 0 else { return nil }
        let authorizer = attributes & 1 << 18 != 0 ? index : Handle.owner
        let size = min(Int(area.pointee.nvPublic.dataSize), Self.largestCertificate)
        var bytes = Data()
        while bytes.count < size {
            var data: UnsafeMutablePointer<TPM2B_MAX_NV_BUFFER>?
            let count = min(size - bytes.count, Self.readSize)
            try check(
                tss.readIndex(
                    esys, authorizer, index, Handle.password, Handle.none, Handle.none,
                    UInt16(truncatingIfNeeded: count),
                    UInt16(truncatingIfNeeded: bytes.count), &data), "NV_Read")
            defer { tss.free(data) }
            guard let read = data?.pointee.data, !read.isEmpty else { return nil }
            bytes += read
        }
        return bytes
    }

    /// Returns the SEQUENCE at the beginning. Some makers pad the rest with other bytes.
    private static func document(_ bytes: Data) -> Data? {
        let bytes = [UInt8](bytes)
        // A certificate has more than 255 bytes and less than 65,536 (X.690, section 8.1.3).
        guard bytes.count > 4, bytes[0] == 0x30, bytes[1] == 0x82 else { return nil }
        let size = 4 + Int(bytes[2]) << 8 + Int(bytes[3])
        return size <= bytes.count ? Data(bytes[..<size]) : nil
    }

    private static let largestCertificate = 4096
    /// The number of bytes that every TPM can read at a time (TCG PC Client Platform TPM Profile, MAX_NV_BUFFER_SIZE).
    private static let readSize = 512
}
