import Attestation
import CTSS2
import Enclave
import Foundation

/// An object outside of the TPM: its public area, and its private one, which only its TPM can read.
struct ObjectBlob: Sendable {
    var publicArea: TPM2B_PUBLIC
    var privateArea: TPM2B_PRIVATE

    init(publicArea: TPM2B_PUBLIC, privateArea: TPM2B_PRIVATE) {
        self.publicArea = publicArea
        self.privateArea = privateArea
    }

    /// Whether the TPM counts wrong authorizations.
    var isGuarded: Bool {
        !ObjectAttributes(rawValue: publicArea.publicArea.objectAttributes).contains(.noDA)
    }

    /// The public key of an elliptic-curve key, uncompressed; nil if it is none on P-256.
    var point: Data? {
        guard publicArea.publicArea.type == Algorithm.ecc,
            publicArea.publicArea.parameters.eccDetail.curveID == Algorithm.p256
        else { return nil }
        let point = publicArea.publicArea.unique.ecc
        return Data([4]) + point.x.number(count: 32) + point.y.number(count: 32)
    }

    /// Both areas as the TPM itself writes them: TPM2B_PUBLIC, TPM2B_PRIVATE (Part 2, sections 12.2.5 and 12.3.7).
    func encoded(_ tss: TSS) throws(EnclaveError) -> Data {
        var bytes = [UInt8](repeating: 0, count: MemoryLayout<TPM2B_PUBLIC>.size + MemoryLayout<TPM2B_PRIVATE>.size)
        var offset = 0
        var copy = self
        guard tss.marshalPublic(&copy.publicArea, &bytes, bytes.count, &offset) == 0,
            tss.marshalPrivate(&copy.privateArea, &bytes, bytes.count, &offset) == 0
        else { throw .damagedBlob(reason: "the TPM's object cannot be written") }
        return Data(bytes[..<offset])
    }

    init(decoding encoded: Data, _ tss: TSS) throws(EnclaveError) {
        let bytes = [UInt8](encoded)
        publicArea = TPM2B_PUBLIC()
        privateArea = TPM2B_PRIVATE()
        var offset = 0
        guard tss.unmarshalPublic(bytes, bytes.count, &offset, &publicArea) == 0,
            tss.unmarshalPrivate(bytes, bytes.count, &offset, &privateArea) == 0, offset == bytes.count,
            // The library does not look at all of the sizes inside.
            try self.encoded(tss) == encoded
        else { throw .damagedBlob(reason: "\(encoded.count) bytes that are no object of a TPM") }
    }
}
