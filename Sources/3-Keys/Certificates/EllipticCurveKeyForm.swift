import FoundationEssentials

/// The parts of an elliptic-curve key in ANSI X9.63 form.
struct EllipticCurveKeyForm: KeyForm {
    let sizeInBits: Int
    let publicRepresentation: Data

    init(_ bytes: Data, keyClass: KeyData.KeyClass) throws(CertificateError) {
        switch keyClass {
        case .public:
            guard let curve = EllipticCurve.allCases.first(where: { $0.publicByteCount == bytes.count }),
                curve.accepts(publicKey: bytes)
            else { throw CertificateError(malformed: "elliptic-curve public key") }
            sizeInBits = curve.sizeInBits
            publicRepresentation = Data(bytes)
        case .private:
            guard let curve = EllipticCurve.allCases.first(where: { $0.privateByteCount == bytes.count }),
                curve.accepts(privateKey: bytes)
            else { throw CertificateError(malformed: "elliptic-curve private key") }
            sizeInBits = curve.sizeInBits
            publicRepresentation = Data(bytes.prefix(curve.publicByteCount))
        }
    }
}
