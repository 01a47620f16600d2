import Attestation
import Bytes
import CTSS2
import Crypto
import Enclave
import FoundationEssentials

/// An object outside of the TPM: its public area, and its private area, which only its TPM can read.
struct ObjectBlob: Sendable {
    private let publicArea: TPM2B_PUBLIC
    /// Both areas in the TPM's own encoding: TPM2B_PUBLIC, TPM2B_PRIVATE (Part 2, sections 12.2.5 and 12.3.7).
    let publicBytes: [UInt8]
    let privateBytes: [UInt8]

    /// Nil if the bytes are not a public area.
    init?(publicArea: TPM2B_PUBLIC, privateArea: TPM2B_PRIVATE, _ tss: TSS) {
        guard let publicBytes = Self.bytes(of: publicArea, tss) else { return nil }
        self.publicArea = publicArea
        self.publicBytes = publicBytes
        var written = CommandBytes()
        privateArea.withUsedBytes { written.append(sized: $0) }
        privateBytes = written.bytes
    }

    /// Whether the TPM counts wrong authorizations.
    var isGuarded: Bool {
        !ObjectAttributes(rawValue: publicArea.publicArea.objectAttributes).contains(.noDA)
    }

    /// The name: the digest of the public area after the digest's algorithm (Part 1, "Names").
    var name: [UInt8] { Self.name(ofPublicArea: publicBytes.dropFirst(2)) }

    /// Returns the name of an object from its public area without the size.
    static func name(ofPublicArea area: ArraySlice<UInt8>) -> [UInt8] {
        [UInt8(truncatingIfNeeded: Algorithm.sha256 >> 8), UInt8(truncatingIfNeeded: Algorithm.sha256 & 0xFF)]
            + Array(SHA256.hash(data: area))
    }

    /// The uncompressed public key; nil unless the object is a key on P-256.
    var point: Data? { Self.point(of: publicArea) }

    /// Returns the uncompressed public key in a public area with its size.
    static func point(ofPublicBytes bytes: ArraySlice<UInt8>, _ tss: TSS) -> Data? {
        var area = TPM2B_PUBLIC()
        var offset = 0
        guard tss.unmarshalPublic(Array(bytes), bytes.count, &offset, &area) == 0 else { return nil }
        return point(of: area)
    }

    private static func point(of publicArea: TPM2B_PUBLIC) -> Data? {
        guard publicArea.publicArea.type == Algorithm.ecc,
            publicArea.publicArea.parameters.eccDetail.curveID == Algorithm.p256
        else { return nil }
        let point = publicArea.publicArea.unique.ecc
        return Data([4]) + point.x.number(count: 32) + point.y.number(count: 32)
    }

    var encoded: Data { Data(publicBytes + privateBytes) }

    init(decoding encoded: Data, _ tss: TSS) throws(EnclaveError) {
        let bytes = [UInt8](encoded)
        var area = TPM2B_PUBLIC()
        var offset = 0
        guard tss.unmarshalPublic(bytes, bytes.count, &offset, &area) == 0,
            // The library does not check all sizes inside.
            let publicBytes = Self.bytes(of: area, tss), bytes.starts(with: publicBytes),
            Self.isPrivateArea(bytes[publicBytes.count...])
        else { throw .damagedBlob(reason: "\(encoded.count) bytes that are not an object of a TPM") }
        publicArea = area
        self.publicBytes = publicBytes
        privateBytes = Array(bytes[publicBytes.count...])
    }

    private static func isPrivateArea(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let high = bytes.first, let low = bytes.dropFirst().first else { return false }
        let size = Int(high) << 8 | Int(low)
        return size == bytes.count - 2 && bytes.count <= MemoryLayout<TPM2B_PRIVATE>.size
    }

    private static func bytes(of area: TPM2B_PUBLIC, _ tss: TSS) -> [UInt8]? {
        var area = area
        var bytes = [UInt8](repeating: 0, count: MemoryLayout<TPM2B_PUBLIC>.size)
        var count = 0
        guard tss.marshalPublic(&area, &bytes, bytes.count, &count) == 0 else { return nil }
        return Array(bytes[..<count])
    }
}
