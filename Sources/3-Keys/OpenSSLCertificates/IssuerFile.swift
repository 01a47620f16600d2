import Bytes
import FoundationEssentials

/// The certificates in a file that a certificate names as the place of its issuer (RFC 5280, 4.2.2.1): one certificate,
/// or a message with certificates alone. Some authorities have it as text (PEM), which Apple reads as well.
package enum IssuerFile {
    /// The largest file in bytes.
    package static let largest = 256 << 10
    /// The most certificates of a file. More are left out.
    private static let most = 16

    /// Returns the DER of the certificates; empty if the file cannot be read.
    ///
    /// - Parameter isChosen: Whether a person chose the file, which can then be longer: a list of authorities.
    /// - Throws: `SystemLibraryError` if libcrypto is missing.
    package static func certificates(in file: Data, isChosen: Bool = false) throws -> [Data] {
        guard !file.isEmpty, file.count <= (isChosen ? ExchangeFile.largest : largest) else { return [] }
        let most = isChosen ? Int.max : most
        let crypto = try LibcryptoContext.shared.get()
        let functions = try crypto.revocation.get()
        defer { crypto.clearErrors() }
        if let certificate = crypto.certificate(file) {
            crypto.certificates.free(certificate)
            return [file]
        }
        return crypto.asDefault(functions) {
            if let message = crypto.decoded(file, functions.decodeMessage, functions.freeMessage) {
                defer { functions.freeMessage(message) }
                guard let found = functions.messageCertificates(message) else { return [] }
                defer { crypto.stacks.freeAll(found, crypto.certificates.free) }
                return crypto.stacks.members(of: found).prefix(most).compactMap(crypto.encoded)
            }
            let certificate = file.withUnsafeBytes { bytes -> LibcryptoContext.Object? in
                guard let reader = functions.makeReader(bytes.baseAddress, Int32(clamping: bytes.count)) else {
                    return nil
                }
                defer { _ = functions.freeReader(reader) }
                return functions.readText(reader, nil, nil, nil)
            }
            guard let certificate else { return [] }
            defer { crypto.certificates.free(certificate) }
            return crypto.encoded(certificate).map { [$0] } ?? []
        }
    }
}
