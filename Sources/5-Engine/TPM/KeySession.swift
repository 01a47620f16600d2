import Bytes
import CTSS2
import Crypto
import FoundationEssentials
import SecureMemory

/// A session for using loaded objects. It proves authorizations without sending them, verifies that an answer comes
/// from the TPM, and hides the first parameter of commands and answers (Part 1, "Session-Based Authorizations" and
/// "Session-Based Encryption").
///
/// The stack also has sessions, but takes more than a millisecond for each command in one, because it makes a new
/// context of its cryptographic library for every hash. It also leaves authorizations in memory.
final class KeySession {
    let handle: TPM2_HANDLE
    private let key: SymmetricKey
    /// The last nonce of the TPM.
    private var nonce: [UInt8]

    private init(handle: TPM2_HANDLE, key: SymmetricKey, nonce: [UInt8]) {
        (self.handle, self.key, self.nonce) = (handle, key, nonce)
    }

    /// Starts a session. Its key is agreed on with a loaded key of the TPM.
    ///
    /// - Parameter point: The uncompressed public key of the loaded key. The caller has verified it.
    static func start(
        in context: TPMContext, with loaded: TPM2_HANDLE, at point: some ContiguousBytes
    ) throws(TSSError) -> KeySession {
        let own = freshNonce()
        let (salt, ephemeral) = try salt(for: point)
        let command = CommandBytes(.startSession, hasSessions: false) { command in
            command.append(loaded)
            command.append(TPMConstant.nullHierarchy)
            command.append(sized: own)
            var encrypted = CommandBytes()
            encrypted.append(sized: ephemeral.dropFirst().prefix(32))
            encrypted.append(sized: ephemeral.suffix(32))
            command.append(sized: encrypted.bytes)
            command.append(TPMConstant.hmacSession)
            command.append(Algorithm.exclusiveOr)
            command.append(Algorithm.sha256)
            command.append(Algorithm.sha256)
        }
        var answer = try context.answer(to: command, .startSession)
        let handle = try answer.number32()
        let nonce = Array(answer.bytes[try answer.sized()])
        defer { wipeRecentlyFreed(.derivation) }
        var derivation = HMAC<SHA256>(key: salt)
        update(&derivation, block: 1, label: "ATH", nonce, own, bits: 256)
        return KeySession(handle: handle, key: SymmetricKey(data: derivation.finalize()), nonce: nonce)
    }

    /// Returns the initial secret of a session, and the public key with which the TPM computes the same secret (Part 1,
    /// "ECDH" and "KDFe").
    private static func salt(
        for point: some ContiguousBytes
    ) throws(TSSError) -> (salt: SymmetricKey, ephemeral: [UInt8]) {
        do {
            let loaded = try P256.KeyAgreement.PublicKey(x963Representation: point)
            let own = P256.KeyAgreement.PrivateKey()
            let ephemeral = Array(own.publicKey.x963Representation)
            defer { wipeRecentlyFreed(.derivation) }
            var hash = SHA256()
            hash.update(data: [0, 0, 0, 1])
            try own.sharedSecretFromKeyAgreement(with: loaded).withUnsafeBytes { hash.update(bufferPointer: $0) }
            hash.update(data: Array("SECRET".utf8) + [0])
            hash.update(data: ephemeral.dropFirst().prefix(32))
            hash.update(data: loaded.rawRepresentation.prefix(32))
            return (SymmetricKey(data: hash.finalize()), ephemeral)
        } catch {
            throw .malformedAnswer
        }
    }

    /// Returns random bytes, as many as in a SHA-256 digest.
    static func freshNonce() -> [UInt8] { SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) } }

    // MARK: Commands

    /// Performs `command` in the TPM with a loaded object, and checks that the answer comes from the TPM.
    ///
    /// - Parameters:
    ///   - second: Another object of the command, whose authorization is an empty password.
    ///   - policy: The session that authorizes the use of `object`, which then has no authorization of its own. This
    ///     session proves and hides all the same.
    ///   - encrypting: Which of command and answer has a first parameter to hide. The parameter is a size and that many
    ///     bytes.
    ///   - parameters: The bytes after the handles.
    ///   - read: Reads the answer's parameters, which are wiped afterwards.
    func perform<Result>(
        _ command: TPMCommand, with object: LoadedObject, and second: LoadedObject? = nil,
        authorizedBy policy: PolicySession? = nil, in context: TPMContext, encrypting: TPMContext.Encrypted,
        _ parameters: CommandBytes = CommandBytes(), _ read: (inout AnswerBytes) throws(TSSError) -> Result
    ) throws(TSSError) -> Result {
        defer { wipeRecentlyFreed(.derivation) }
        let secret = secret(for: object.authorization)
        let own = Self.freshNonce()
        var flags = SessionAttributes.continueSession
        if encrypting.contains(.command) { flags |= SessionAttributes.decrypt }
        if encrypting.contains(.answer) { flags |= SessionAttributes.encrypt }

        var sent = AnswerBytes(parameters.bytes)
        if encrypting.contains(.command) { hide(&sent, try sent.sized(), secret, newer: own, older: nonce) }
        var hash = SHA256()
        hash.update(command.code)
        hash.update(data: object.name)
        if let second { hash.update(data: second.name) }
        hash.update(data: sent.bytes)
        let proof = Self.proof(of: hash.finalize(), secret, newer: own, older: nonce, flags)
        var area = CommandBytes()
        // A session without a key has no proof (Part 1, "Session-Based Authorizations").
        if let policy { area.append(policy.handle, Self.freshNonce(), SessionAttributes.continueSession, proof: []) }
        area.append(handle, own, flags, proof: Array(proof))
        if second != nil { area.append(TPMConstant.passwordSession, [], 0, proof: []) }
        let bytes = CommandBytes(command, hasSessions: true) { bytes in
            bytes.append(object.handle)
            if let second { bytes.append(second.handle) }
            bytes.append(UInt32(truncatingIfNeeded: area.bytes.count))
            bytes.append(area.bytes)
            bytes.append(sent.bytes)
        }

        var answer = try context.answer(to: bytes, command)
        defer { answer.wipe() }
        let received = try answer.take(Int(answer.number32()))
        // The answer to the policy's session is its nonce and flags, without a proof.
        if policy != nil { _ = (try answer.sized(), try answer.number8(), try answer.sized()) }
        let newer = try checkProof(
            of: &answer, received, to: command, secret, older: own, flags, hasPassword: second != nil)
        nonce = newer

        answer.seek(received)
        if encrypting.contains(.answer) {
            hide(&answer, try answer.sized(), secret, newer: newer, older: own)
            answer.seek(received)
        }
        let result = try read(&answer)
        guard answer.isAtEnd else { throw .malformedAnswer }
        return result
    }

    /// Makes sure that the TPM made an answer, whose session area comes next.
    ///
    /// - Parameters:
    ///   - received: The answer's parameters.
    ///   - hasPassword: Whether the answer to a password follows.
    /// - Returns: The TPM's nonce.
    private func checkProof(
        of answer: inout AnswerBytes, _ received: Range<Int>, to command: TPMCommand, _ secret: SymmetricKey,
        older own: [UInt8], _ flags: UInt8, hasPassword: Bool
    ) throws(TSSError) -> [UInt8] {
        let newer = Array(answer.bytes[try answer.sized()])
        let answered = try answer.number8()
        let itsProof = try answer.sized()
        // The answer to a password has an empty nonce, flags and no proof.
        if hasPassword { _ = try answer.take(5) }
        guard answer.isAtEnd else { throw .malformedAnswer }
        var hash = SHA256()
        // The proof includes the success of the command.
        hash.update(UInt32(0))
        hash.update(command.code)
        hash.update(data: answer.bytes[received])
        let expected = Self.proof(of: hash.finalize(), secret, newer: newer, older: own, answered)
        guard expected == answer.bytes[itsProof],
            answered & SessionAttributes.encrypt == flags & SessionAttributes.encrypt
        else { throw .unprovenAnswer }
        return newer
    }

    /// Returns the session's key followed by the authorization of the object.
    ///
    /// An authorization is at most as long as a SHA-256 digest. The TPM leaves out zeros at its end. HMAC pads a key
    /// with zeros up to 64 bytes, so both give the same result.
    private func secret(for authorization: SymmetricKey?) -> SymmetricKey {
        guard let authorization else { return key }
        return withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { joined in
            defer { SecureMemory.wipe(joined) }
            joined.initializeMemory(as: UInt8.self, repeating: 0)
            key.withUnsafeBytes { joined.copyMemory(from: $0) }
            authorization.withUnsafeBytes {
                UnsafeMutableRawBufferPointer(rebasing: joined[32...]).copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: $0.prefix(32)))
            }
            return SymmetricKey(data: UnsafeRawBufferPointer(joined))
        }
    }

    private static func proof(
        of parameters: SHA256.Digest, _ secret: SymmetricKey, newer: [UInt8], older: [UInt8], _ flags: UInt8
    ) -> HMAC<SHA256>.MAC {
        var code = HMAC<SHA256>(key: secret)
        parameters.withUnsafeBytes { code.update(data: $0) }
        code.update(data: newer)
        code.update(data: older)
        code.update(data: [flags])
        return code.finalize()
    }

    /// Hides bytes, or reveals them again, with a mask. Only holders of the secret can compute the mask, and each
    /// command and answer has its own (Part 1, "XOR Parameter Obfuscation").
    private func hide(
        _ bytes: inout AnswerBytes, _ place: Range<Int>, _ secret: SymmetricKey, newer: [UInt8], older: [UInt8]
    ) {
        bytes.change(place) { hidden in
            for (index, start) in stride(from: 0, to: hidden.count, by: SHA256.byteCount).enumerated() {
                var derivation = HMAC<SHA256>(key: secret)
                Self.update(
                    &derivation, block: UInt32(truncatingIfNeeded: index + 1), label: "XOR", newer, older,
                    bits: UInt32(truncatingIfNeeded: hidden.count * 8))
                for (offset, byte) in zip(start..<hidden.count, derivation.finalize()) { hidden[offset] ^= byte }
            }
        }
    }

    /// Adds the input of a block of a derived key (Part 1, "KDFa").
    private static func update(
        _ derivation: inout HMAC<SHA256>, block: UInt32, label: String, _ first: [UInt8], _ second: [UInt8],
        bits: UInt32
    ) {
        derivation.update(data: withUnsafeBytes(of: block.bigEndian) { Array($0) })
        derivation.update(data: Array(label.utf8) + [0])
        derivation.update(data: first)
        derivation.update(data: second)
        derivation.update(data: withUnsafeBytes(of: bits.bigEndian) { Array($0) })
    }
}

extension CommandBytes {
    /// Appends a session's part of the authorization area.
    fileprivate mutating func append(_ session: TPM2_HANDLE, _ nonce: [UInt8], _ flags: UInt8, proof: [UInt8]) {
        append(session)
        append(sized: nonce)
        append(flags)
        append(sized: proof)
    }
}

/// A loaded object, with the authorization for its use.
struct LoadedObject {
    let handle: TPM2_HANDLE
    /// The digest of its public area. The TPM refuses a command that reaches another object.
    let name: [UInt8]
    let authorization: SymmetricKey?
}

extension SHA256 {
    fileprivate mutating func update(_ number: UInt32) {
        update(data: withUnsafeBytes(of: number.bigEndian) { Array($0) })
    }
}
