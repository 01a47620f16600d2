import FoundationEssentials
import SecureMemory

/// The commands that use loaded objects.
extension KeySession {
    /// Returns HMAC-SHA256 of `message` with a loaded key. The message has at most 1,024 bytes.
    func authenticationCode(
        of message: Data, key: LoadedObject, in context: TPMContext
    ) throws(TSSError) -> LockedBytes {
        var parameters = CommandBytes()
        parameters.append(sized: message)
        parameters.append(Algorithm.sha256)
        return try perform(.hmac, with: key, in: context, encrypting: [.command, .answer], parameters) {
            answer throws(TSSError) in try answer.secret(at: answer.sized())
        }
    }

    /// Returns r and s of an ECDSA signature, 32 bytes each.
    func signature(of digest: Data, key: LoadedObject, in context: TPMContext) throws(TSSError) -> Data {
        var parameters = CommandBytes()
        parameters.append(sized: digest)
        parameters.append(Algorithm.ecdsa)
        parameters.append(Algorithm.sha256)
        // The TPM has not seen the message of the digest: the ticket is empty.
        parameters.append(TPMConstant.hashCheckTicket)
        parameters.append(TPMConstant.nullHierarchy)
        parameters.append(sized: [])
        return try perform(.sign, with: key, in: context, encrypting: [], parameters) { answer throws(TSSError) in
            guard try answer.number16() == Algorithm.ecdsa, try answer.number16() == Algorithm.sha256 else {
                throw .malformedAnswer
            }
            let (r, s) = (try answer.sized(), try answer.sized())
            return answer.number(at: r, count: 32) + answer.number(at: s, count: 32)
        }
    }

    /// Returns the x coordinate of the product of a loaded key and `peer`, an uncompressed point: 32 bytes.
    func product(with peer: Data, key: LoadedObject, in context: TPMContext) throws(TSSError) -> LockedBytes {
        var point = CommandBytes()
        point.append(sized: peer.dropFirst().prefix(32))
        point.append(sized: peer.suffix(32))
        var parameters = CommandBytes()
        parameters.append(sized: point.bytes)
        return try perform(.multiply, with: key, in: context, encrypting: .answer, parameters) {
            answer throws(TSSError) in
            _ = try answer.number16()
            let (x, _) = (try answer.sized(), try answer.sized())
            return try answer.secret(at: x, count: 32)
        }
    }

    /// Returns the TPM's statement about a loaded key, and its signature (TPMT_SIGNATURE).
    ///
    /// Certifying needs the administrator role. A key without adminWithPolicy takes the same authorization for it as
    /// for its use (Part 1, "Authorization Roles").
    func certification(
        of key: LoadedObject, by attester: LoadedObject, nonce: Data, in context: TPMContext
    ) throws(TSSError) -> (statement: Data, signature: Data) {
        var parameters = CommandBytes()
        parameters.append(sized: nonce)
        // The attestation key uses its own scheme.
        parameters.append(Algorithm.null)
        return try perform(.certify, with: key, and: attester, in: context, encrypting: [], parameters) {
            answer throws(TSSError) in
            let statement = try answer.sized()
            let start = try answer.take(4).lowerBound
            let (_, s) = (try answer.sized(), try answer.sized())
            return (Data(answer.bytes[statement]), Data(answer.bytes[start..<s.upperBound]))
        }
    }

    /// - Parameter policy: The session that satisfies the object's policy; nil for an object with an authorization.
    func unsealed(
        _ object: LoadedObject, authorizedBy policy: PolicySession? = nil, in context: TPMContext
    ) throws(TSSError) -> LockedBytes {
        try perform(.unseal, with: object, authorizedBy: policy, in: context, encrypting: .answer) {
            answer throws(TSSError) in
            try answer.secret(at: answer.sized())
        }
    }
}
