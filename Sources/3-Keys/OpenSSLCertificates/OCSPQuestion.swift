import Bytes
import FoundationEssentials

/// A question to an OCSP responder whether a certificate is revoked (RFC 6960, 4.1).
package final class OCSPQuestion {
    /// DER of the OCSPRequest.
    package let encoded: Data

    let object: LibcryptoContext.Object
    private let functions: RevocationFunctions

    /// Makes a question with SHA-1 in the certificate's identifier, which every responder knows (RFC 5019, 2.1.1).
    ///
    /// - Parameters:
    ///   - certificate: DER.
    ///   - issuer: DER.
    ///   - nonce: Up to 32 bytes (RFC 9654, 2.1) that the answer repeats if the responder makes it for this question.
    /// - Throws: ``LibcryptoFailure`` if a certificate cannot be read, or without memory; `SystemLibraryError` if
    ///   libcrypto is missing.
    package init(certificate: Data, issuer: Data, nonce: [UInt8]) throws {
        let crypto = try LibcryptoContext.shared.get()
        let functions = try crypto.revocation.get()
        defer { crypto.clearErrors() }
        guard let object = functions.makeQuestion() else { throw LibcryptoFailure.memory }
        do {
            encoded = try crypto.asDefault(functions) {
                try Self.fill(object, certificate, issuer, nonce, crypto, functions)
            }
        } catch {
            functions.freeQuestion(object)
            throw error
        }
        (self.object, self.functions) = (object, functions)
    }

    deinit { functions.freeQuestion(object) }

    private static func fill(
        _ object: LibcryptoContext.Object, _ certificate: Data, _ issuer: Data, _ nonce: [UInt8],
        _ crypto: LibcryptoContext, _ functions: RevocationFunctions
    ) throws(LibcryptoFailure) -> Data {
        guard let subject = crypto.certificate(certificate) else { throw .memory }
        defer { crypto.certificates.free(subject) }
        guard let authority = crypto.certificate(issuer) else { throw .memory }
        defer { crypto.certificates.free(authority) }
        guard let digest = functions.digests.first?(),
            let identifier = functions.makeIdentifier(digest, subject, authority)
        else { throw .memory }
        guard functions.addIdentifier(object, identifier) != nil else {
            functions.freeIdentifier(identifier)
            throw .memory
        }
        var bytes = nonce
        guard functions.addNonce(object, &bytes, Int32(clamping: bytes.count)) == 1,
            let encoded = crypto.encoding({ functions.encodeQuestion(object, $0) })
        else { throw .memory }
        return encoded
    }
}
