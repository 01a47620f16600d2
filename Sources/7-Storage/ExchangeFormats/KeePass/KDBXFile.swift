import Bytes
import Crypto
import CryptoExtras
import FoundationEssentials

/// What is encrypted in a KeePass database of version 3.1, 4.0 or 4.1.
struct KDBXFile {
    /// The XML of the entries, whose protected values are decrypted.
    let document: XMLNode
    /// The contents of files, by their numbers. Version 3 has them in the XML.
    private(set) var files: [Data] = []

    /// The most bytes of what was compressed.
    private static let largest = 512 << 20

    /// - Parameter password: Called once the file turns out to be one.
    init(_ bytes: Data, password: () throws -> SecretBytes?, keyFile: Data?) throws {
        var reader = ByteReader(bytes)
        let header = try KDBXHeader(&reader)
        let rest = reader.rest()
        if header.major == 4 { try Self.checkHeader(header, rest) }
        let keyFile = try keyFile.map(KDBXKey.keyFile)
        guard let password = try password() else { throw ExchangeError.needsPassword }
        // An empty password beside a key file is none, or an empty one: both are in use.
        var candidates: [SecretBytes?] = [password]
        if password.isEmpty, keyFile != nil { candidates.insert(nil, at: 0) }
        var plain: Data?
        for candidate in candidates where plain == nil {
            let composite = try KDBXKey.composite(password: candidate, keyFile: keyFile)
            let key = Transformed(try header.derivation.stretch(composite), header)
            plain = try header.major == 4 ? Self.open4(header, rest, key) : Self.open3(header, rest, key)
        }
        guard var plain else { throw ExchangeError.wrongPasswordOrKeyFile }
        if header.isCompressed {
            guard let expanded = try Zlib.expand(plain, limit: Self.largest) else {
                throw ExchangeError.malformed(.kdbx, "what is compressed in it is damaged")
            }
            plain = expanded
        }
        var (inner, innerKey) = (header.inner, header.innerKey)
        if header.major == 4 { (inner, innerKey, files, plain) = try Self.innerHeader(plain) }
        guard let document = try XMLNode.root(of: plain), document.name == "KeePassFile" else {
            throw ExchangeError.malformed(.kdbx, "what is encrypted in it is no XML of KeePass")
        }
        if header.major == 3, let text = document["Meta"]?["HeaderHash"]?.text, !text.isEmpty {
            guard text == Data(SHA256.hash(data: header.bytes)).base64EncodedString() else { throw Self.changedHeader }
        }
        try Self.decrypt(document, inner, innerKey)
        self.document = document
    }

    private static let changedHeader = ExchangeError.malformed(.kdbx, "its header was changed")
    private static let damaged = ExchangeError.malformed(.kdbx, "its data was changed, or cut off")

    /// The keys that come from the password.
    struct Transformed {
        let encryption: SymmetricKey
        /// Of which the key of each block is made.
        private let codes: [UInt8]

        init(_ transformed: SecretBytes, seed: Data) {
            (encryption, codes) = transformed.withUnsafeBytes { bytes in
                var (short, long) = (SHA256(), SHA512())
                short.update(data: seed)
                short.update(bufferPointer: bytes)
                long.update(data: seed)
                long.update(bufferPointer: bytes)
                long.update(data: [1])
                return (SymmetricKey(data: short.finalize()), Array(long.finalize()))
            }
        }

        init(_ transformed: SecretBytes, _ header: KDBXHeader) { self.init(transformed, seed: header.masterSeed) }

        /// The key of the code of a block; the header is the block with the largest number.
        func code(of block: UInt64) -> SymmetricKey {
            SymmetricKey(data: SHA512.hash(data: block.littleEndianBytes + codes))
        }

        /// What is authenticated of a block.
        static func message(_ block: UInt64, _ data: Data) -> Data {
            Data(block.littleEndianBytes + UInt32(clamping: data.count).littleEndianBytes) + data
        }
    }

    // MARK: Version 4

    private static func checkHeader(_ header: KDBXHeader, _ rest: Data) throws(ExchangeError) {
        guard rest.count >= 64 else { throw damaged }
        guard SHA256.hash(data: header.bytes) == rest.prefix(32) else { throw changedHeader }
    }

    /// - Returns: Nil for another key.
    private static func open4(_ header: KDBXHeader, _ rest: Data, _ key: Transformed) throws(ExchangeError) -> Data? {
        var reader = ByteReader(rest)
        guard reader.take(32) != nil, let code = reader.take(32) else { throw damaged }
        guard HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: header.bytes, using: key.code(of: .max))
        else {
            return nil
        }
        var sealed = Data()
        for block in UInt64(0)... {
            guard let code = reader.take(32), let data = reader.counted(UInt32.self),
                HMAC<SHA256>.isValidAuthenticationCode(
                    code, authenticating: Transformed.message(block, data), using: key.code(of: block))
            else { throw damaged }
            if data.isEmpty { break }
            sealed += data
        }
        guard let plain = decrypt(sealed, header, key) else { throw damaged }
        return plain
    }

    private static func decrypt(_ sealed: Data, _ header: KDBXHeader, _ key: Transformed) -> Data? {
        switch header.cipher {
        case .aes:
            guard let vector = try? AES._CBC.IV(ivBytes: header.vector) else { return nil }
            return try? AES._CBC.decrypt(sealed, using: key.encryption, iv: vector)
        case .chaCha20: return KDBXStream.chaCha20(sealed, key: key.encryption, nonce: header.vector)
        }
    }

    private static func innerHeader(
        _ plain: Data
    ) throws(ExchangeError) -> (KDBXStream.Inner, Data, [Data], Data) {
        var reader = ByteReader(plain)
        var (inner, key, files): (KDBXStream.Inner?, Data, [Data]) = (nil, Data(), [])
        while let kind = reader.number(UInt8.self), let value = reader.counted(UInt32.self) {
            switch kind {
            case 0:
                guard let inner, !key.isEmpty else { throw damaged }
                return (inner, key, files, reader.rest())
            case 1: inner = KDBXStream.Inner(rawValue: UInt32(littleEndianBytes: value))
            case 2: key = value
            // The first byte says whether it is to be protected in memory.
            case 3: files.append(Data(value.dropFirst()))
            default: break
            }
        }
        throw damaged
    }

    // MARK: Version 3

    /// - Returns: Nil for another key.
    private static func open3(_ header: KDBXHeader, _ rest: Data, _ key: Transformed) throws(ExchangeError) -> Data? {
        guard !rest.isEmpty, header.cipher == .chaCha20 || rest.count.isMultiple(of: 16) else { throw damaged }
        // Nothing tells a wrong key from a damaged end before this: the padding is wrong in both.
        guard let plain = decrypt(rest, header, key) else { return nil }
        var reader = ByteReader(plain)
        guard reader.take(32) == header.beginning else { return nil }
        var joined = Data()
        for number in UInt32(0)... {
            guard reader.number(UInt32.self) == number, let hash = reader.take(32),
                let data = reader.counted(UInt32.self)
            else { throw damaged }
            if data.isEmpty { break }
            guard SHA256.hash(data: data) == hash else { throw damaged }
            joined += data
        }
        return joined
    }

    // MARK: Protected values

    /// Decrypts the protected values, which are one stream in their order.
    private static func decrypt(_ document: XMLNode, _ inner: KDBXStream.Inner, _ key: Data) throws(ExchangeError) {
        var (nodes, sealed): ([(XMLNode, Int)], Data) = ([], Data())
        func collect(_ node: XMLNode) throws(ExchangeError) {
            if node.attributes["Protected"]?.lowercased() == "true" {
                guard let data = node.data else { throw .malformed(.kdbx, "a protected value in it is no Base64") }
                nodes.append((node, data.count))
                sealed += data
            }
            for child in node.children { try collect(child) }
        }
        try collect(document)
        guard let plain = KDBXStream.inner(inner, sealed, key: key) else { throw damaged }
        var reader = ByteReader(plain)
        for (node, count) in nodes { node.decrypted = reader.take(count) }
    }
}
