import Bytes
import FoundationEssentials

/// Messages of the Cryptographic Message Syntax (RFC 5652): signed ones, encrypted ones, and lists of certificates.
package enum SignedMessage {
    package enum Digest: String, Sendable, CaseIterable {
        case sha1 = "SHA1"
        case sha256 = "SHA256"
        case sha384 = "SHA384"
        case sha512 = "SHA512"
    }

    package enum Failure: Error, Equatable {
        /// The bytes are no message, or one of another kind.
        case malformed
        /// A signature does not belong to the content.
        case invalidSignature
        /// The key does not open the message.
        case wrongKey
        /// libcrypto does not sign with this key.
        case unusableKey
    }

    /// What a message has.
    package enum Contents {
        /// DER of the certificates of those who signed, and of the others that came with the message.
        case signed(Data, signers: [Data], others: [Data])
        case encrypted
    }

    /// The largest message in bytes.
    package static let largest = 64 << 20

    // CMS_BINARY, CMS_DETACHED, CMS_PARTIAL and CMS_NO_SIGNER_CERT_VERIFY (openssl/cms.h).
    private static let binary: UInt32 = 0x80
    private static let detached: UInt32 = 0x40
    private static let partial: UInt32 = 0x4000
    private static let unchecked: UInt32 = 0x20

    /// Signs content.
    ///
    /// - Parameters:
    ///   - key: PKCS#8 PrivateKeyInfo.
    ///   - certificates: DER: that of the key first, then its issuers.
    package static func signing(
        _ content: Data, key: Data, certificates: [Data], digest: Digest, isDetached: Bool
    ) throws -> Data {
        try Libcrypto.use { crypto in
            let key = try crypto.key(key)
            let chain = try crypto.certificates(certificates)
            guard let own = chain.first else { throw Failure.unusableKey }
            let others = try crypto.stack(chain.dropFirst())
            let reader = try crypto.reader(content)
            let flags = binary | partial | (isDetached ? detached : 0)
            let message = try crypto.keep(
                crypto.messages.sign(nil, nil, others, nil, flags), crypto.online.freeMessage)
            let signer = crypto.messages.addSigner(message, own, key, crypto.messages.digest(digest), flags)
            guard signer != nil, crypto.messages.finish(message, reader, nil, flags) == 1 else {
                throw Failure.unusableKey
            }
            return try crypto.encoded(message)
        }
    }

    /// Returns a message that has certificates and nothing else.
    package static func list(of certificates: [Data]) throws -> Data {
        try Libcrypto.use { crypto in
            let others = try crypto.stack(crypto.certificates(certificates))
            let message = crypto.messages.sign(nil, nil, others, nil, binary | detached | partial)
            return try crypto.encoded(crypto.keep(message, crypto.online.freeMessage))
        }
    }

    /// Reads a message. Signatures are checked, and whether their certificates can be trusted is not.
    ///
    /// - Parameter content: What was signed, if the message does not have it.
    package static func read(_ message: Data, content: Data?) throws -> Contents {
        try Libcrypto.use { crypto in
            let message = try crypto.message(message)
            // NID_pkcs7_signed and NID_pkcs7_enveloped (openssl/obj_mac.h).
            switch crypto.messages.number(crypto.messages.type(message)) {
            case 23: return .encrypted
            case 22: break
            default: throw Failure.malformed
            }
            let writer = try crypto.writer()
            let given = try content.map { try crypto.reader($0) }
            let isValid = crypto.messages.verify(
                message, nil, nil, given, writer, binary | unchecked)
            guard isValid == 1 else { throw Failure.invalidSignature }
            var certificates: [Data] = []
            if let found = crypto.online.messageCertificates(message) {
                certificates = crypto.context.stacks.members(of: found).compactMap(crypto.context.encoded)
                crypto.context.stacks.freeAll(found, crypto.context.certificates.free)
            }
            let signers = crypto.messages.signers(message)
            defer { crypto.context.stacks.free(signers) }
            let own = crypto.context.stacks.members(of: signers).compactMap(crypto.context.encoded)
            return .signed(crypto.bytes(in: writer), signers: own, others: certificates.filter { !own.contains($0) })
        }
    }

    /// Encrypts content for the owners of certificates.
    package static func encrypting(_ content: Data, for certificates: [Data]) throws -> Data {
        try Libcrypto.use { crypto in
            let recipients = try crypto.stack(crypto.certificates(certificates))
            let message = crypto.messages.encrypt(
                recipients, try crypto.reader(content), crypto.messages.aes256(), binary)
            return try crypto.encoded(crypto.keep(message, or: Failure.unusableKey, crypto.online.freeMessage))
        }
    }

    /// Decrypts a message.
    ///
    /// - Parameters:
    ///   - key: PKCS#8 PrivateKeyInfo.
    ///   - certificate: DER of the key's certificate, which says which part of the message is for the key.
    package static func decrypting(_ message: Data, key: Data, certificate: Data) throws -> Data {
        try Libcrypto.use { crypto in
            let message = try crypto.message(message)
            let own = try crypto.certificates([certificate]).first
            let writer = try crypto.writer()
            guard crypto.messages.decrypt(message, try crypto.key(key), own, nil, writer, binary) == 1 else {
                throw Failure.wrongKey
            }
            return crypto.bytes(in: writer)
        }
    }
}

/// libcrypto with what messages need of it, and the objects that were made with it.
final class Libcrypto {
    typealias Object = LibcryptoContext.Object

    let context: LibcryptoContext
    let messages: MessageFunctions
    let online: RevocationFunctions
    /// Frees the objects, in the order in which they were made.
    private var ends: [() -> Void] = []

    private init() throws {
        context = try LibcryptoContext.shared.get()
        messages = try MessageFunctions.shared.get()
        online = try context.revocation.get()
    }

    /// Runs `body` with the library's own context. Frees what was made for it afterwards, and forgets the errors of the
    /// library.
    static func use<Result>(_ body: (Libcrypto) throws -> Result) throws -> Result {
        let libcrypto = try Libcrypto()
        defer {
            // The last one may use those before it.
            for end in libcrypto.ends.reversed() { end() }
            libcrypto.ends = []
            libcrypto.context.clearErrors()
        }
        return try libcrypto.context.asDefault(libcrypto.online) { try body(libcrypto) }
    }

    /// Keeps an object until the end.
    ///
    /// - Throws: `error` if there is none.
    func keep(
        _ object: Object?, or error: any Error = LibcryptoFailure.memory, _ free: @escaping (Object?) -> Void
    ) throws -> Object {
        guard let object else { throw error }
        ends.append { free(object) }
        return object
    }

    func key(_ info: Data) throws -> Object {
        let object = info.withUnsafeBytes { bytes in
            var position = bytes.bindMemory(to: UInt8.self).baseAddress
            return context.exchange.readKey(nil, &position, bytes.count, context.context, nil)
        }
        return try keep(object, or: SignedMessage.Failure.unusableKey, context.exchange.freeReadKey)
    }

    func certificates(_ certificates: [Data]) throws -> [Object] {
        try certificates.map {
            try keep(context.certificate($0), or: SignedMessage.Failure.malformed, context.certificates.free)
        }
    }

    /// A list of objects, which stay their owner's.
    func stack(_ objects: some Sequence<Object>) throws -> Object {
        let stack = try keep(context.stacks.make(), context.stacks.free)
        for object in objects {
            guard context.stacks.push(stack, UnsafeMutableRawPointer(object)) > 0 else { throw LibcryptoFailure.memory }
        }
        return stack
    }

    func message(_ bytes: Data) throws -> Object {
        guard bytes.count <= SignedMessage.largest else { throw SignedMessage.Failure.malformed }
        return try keep(
            context.decoded(bytes, online.decodeMessage, online.freeMessage), or: SignedMessage.Failure.malformed,
            online.freeMessage)
    }

    /// A stream that has a copy of the bytes.
    func reader(_ bytes: Data) throws -> Object {
        let writer = try writer()
        guard bytes.withUnsafeBytes({ messages.write(writer, $0) }) else { throw LibcryptoFailure.memory }
        return writer
    }

    func writer() throws -> Object {
        let free = online.freeReader
        return try keep(messages.makeWriter(messages.memory())) { _ = free($0) }
    }

    /// What was written to a stream.
    func bytes(in writer: Object) -> Data {
        var start: UnsafeMutablePointer<UInt8>?
        // BIO_CTRL_INFO (openssl/bio.h).
        let count = withUnsafeMutablePointer(to: &start) { messages.control(writer, 3, 0, $0) }
        guard let start, count > 0 else { return Data() }
        return Data(UnsafeBufferPointer(start: start, count: count))
    }

    /// Returns the DER of a message.
    func encoded(_ message: Object) throws -> Data {
        guard let encoded = context.encoding({ messages.encode(message, $0) }) else { throw LibcryptoFailure.memory }
        return encoded
    }
}

extension MessageFunctions {
    /// - Returns: Whether all bytes were taken.
    fileprivate func write(_ stream: Object?, _ bytes: UnsafeRawBufferPointer) -> Bool {
        guard !bytes.isEmpty else { return true }
        return put(stream, bytes.baseAddress, Int32(clamping: bytes.count)) == bytes.count
    }
}
