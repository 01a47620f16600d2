import Bytes
import Crypto
import FoundationEssentials
import PreparedKeys

/// How a key is made of the password and the key file of a KeePass database.
enum KDBXKey {
    /// Joins the parts that there are.
    static func composite(password: SecretBytes?, keyFile: SecretBytes?) throws -> SecretBytes {
        var hash = SHA256()
        password?.withUnsafeBytes { bytes in
            SHA256.hash(data: bytes).withUnsafeBytes { hash.update(bufferPointer: $0) }
        }
        keyFile?.withUnsafeBytes { hash.update(bufferPointer: $0) }
        return try secret(hash.finalize())
    }

    /// Returns the key in a key file: XML of version 1 or 2, 32 bytes, 64 hexadecimal digits, or else the hash of what
    /// the file has.
    ///
    /// - Throws: ``ExchangeError/malformed(_:_:)`` for XML with a wrong key.
    static func keyFile(_ bytes: Data) throws -> SecretBytes {
        if bytes.count == 32 { return try bytes.withUnsafeBytes { try SecretBytes(copying: $0) } }
        if bytes.count == 64, let key = try bytes.withUnsafeBytes({ try SecretBytes(hexadecimal: $0) }) { return key }
        if bytes.count <= 1 << 20, bytes.prefix(1_024).firstRange(of: "<KeyFile".utf8) != nil,
            let root = try XMLNode.root(of: bytes), root.name == "KeyFile"
        {
            return try key(ofXML: root)
        }
        return try secret(SHA256.hash(data: bytes))
    }

    private static func key(ofXML root: XMLNode) throws -> SecretBytes {
        let damaged = ExchangeError.malformed(.kdbx, "its key file is damaged: take a copy of the key file")
        guard let version = root["Meta"]?["Version"]?.text, let data = root["Key"]?["Data"] else { throw damaged }
        if version.hasPrefix("1.") {
            guard let key = data.data, key.count == 32 else { throw damaged }
            return try key.withUnsafeBytes { try SecretBytes(copying: $0) }
        }
        guard version.hasPrefix("2."), let key = [UInt8](hexadecimal: data.text.utf8.filter { $0 > 0x20 }),
            key.count == 32
        else { throw damaged }
        // The first bytes of its hash, against errors of people who typed it from paper.
        if let check = data.attributes["Hash"] {
            guard let check = [UInt8](hexadecimal: check.utf8), check.count >= 4,
                SHA256.hash(data: key).starts(with: check)
            else { throw damaged }
        }
        return try key.withUnsafeBytes { try SecretBytes(copying: $0) }
    }

    static func secret(_ digest: some Digest) throws -> SecretBytes {
        try digest.withUnsafeBytes { try SecretBytes(copying: $0) }
    }
}

/// The derivation that makes it slow to try passwords.
enum KDBXDerivation {
    /// AES-256 in ECB mode, again and again.
    case aes(seed: Data, rounds: UInt64)
    case argon2(Argon2Lanes, salt: [UInt8])

    /// About ten seconds.
    private static let mostRounds: UInt64 = 100_000_000

    /// - Throws: ``ExchangeError/tooExpensive``, ``ExchangeError/malformed(_:_:)``.
    init(aesSeed seed: Data, rounds: UInt64) throws(ExchangeError) {
        guard seed.count == 32 else { throw .malformed(.kdbx, "its header has no seed of 32 bytes") }
        guard rounds <= Self.mostRounds else { throw .tooExpensive }
        self = .aes(seed: seed, rounds: rounds)
    }

    /// Reads the parameters of version 4, a list of names and values.
    init(parameters: Data) throws(ExchangeError) {
        let values = try KDBXDictionary(parameters)
        let kind: Argon2Lanes.Kind
        switch values.bytes("$UUID").map({ [UInt8]($0).hexadecimal() }) {
        case "c9d9f39a628a4460bf740d08c18a4fea", "7c02bb8279a74ac0927d114a00648238":
            try self.init(aesSeed: values.bytes("S") ?? Data(), rounds: values.number("R") ?? 0)
            return
        case "ef636ddf8c29444b91f7a9a403e30a0c": kind = .d
        case "9e298b1956db4773b23dfc3ec6f0a1e6": kind = .id
        default: throw .malformed(.kdbx, "its key derivation is not known")
        }
        guard values.bytes("K")?.isEmpty ?? true, values.bytes("A")?.isEmpty ?? true else {
            throw .malformed(.kdbx, "its key derivation uses a secret of its own, which is not known")
        }
        guard let version = values.number("V").flatMap({ Argon2Lanes.Version(rawValue: UInt32(clamping: $0)) }),
            let salt = values.bytes("S"), (8...1_024).contains(salt.count), let memory = values.number("M"),
            let passes = values.number("I"), let lanes = values.number("P")
        else { throw .malformed(.kdbx, "its key derivation has no version, salt or cost") }
        self = .argon2(
            try Argon2Lanes(
                kind, version: version, memoryKiB: UInt32(clamping: memory >> 10), passes: UInt32(clamping: passes),
                lanes: UInt32(clamping: lanes)), salt: Array(salt))
    }

    func stretch(_ composite: SecretBytes) throws -> SecretBytes {
        switch self {
        case .argon2(let argon2, let salt): try argon2.stretch(composite, salt: salt)
        case .aes(let seed, let rounds): try Self.stretch(composite, seed, rounds)
        }
    }

    /// In CBC mode, each block of zeros becomes the encryption of the block before it: one round.
    private static func stretch(_ composite: SecretBytes, _ seed: Data, _ rounds: UInt64) throws -> SecretBytes {
        let (cipher, blocks) = (PreparedCBC(SymmetricKey(data: seed), code: nil), 4_096)
        let zeros = [UInt8](repeating: 0, count: blocks * 16)
        var (made, halves) = (zeros, composite.withUnsafeBytes { Array($0) })
        defer {
            made.withUnsafeMutableBytes { SecretBytes.wipe($0) }
            halves.withUnsafeMutableBytes { SecretBytes.wipe($0) }
        }
        for start in [0, 16] {
            var left = rounds
            while left > 0 {
                let count = Int(clamping: min(left, UInt64(clamping: blocks)))
                let isMade = zeros.withUnsafeBytes { zeros in
                    halves.withUnsafeBytes { halves in
                        made.withUnsafeMutableBytes { made in
                            guard let text = zeros.baseAddress, let vector = halves.baseAddress,
                                let room = made.baseAddress
                            else { return false }
                            return cipher.encrypt(text, count: count * 16, vector: vector + start, into: room)
                        }
                    }
                }
                guard isMade else { throw VaultMemoryError() }
                for index in 0..<16 { halves[start + index] = made[(count - 1) * 16 + index] }
                left -= UInt64(clamping: count)
            }
        }
        return try halves.withUnsafeBytes { try KDBXKey.secret(SHA256.hash(data: $0)) }
    }
}

/// A list of names and values, as a header of version 4 has it.
struct KDBXDictionary {
    private var values: [String: Data] = [:]

    init(_ bytes: Data) throws(ExchangeError) {
        let damaged = ExchangeError.malformed(.kdbx, "the parameters in its header are damaged")
        var reader = ByteReader(bytes)
        guard let version = reader.number(UInt16.self), version >> 8 == 1 else { throw damaged }
        while let kind = reader.number(UInt8.self) {
            guard kind != 0 else { return }
            guard let name = reader.counted(Int32.self), let value = reader.counted(Int32.self) else { throw damaged }
            values[String(decoding: name, as: UTF8.self)] = value
        }
        throw damaged
    }

    func bytes(_ name: String) -> Data? { values[name] }

    /// A number of 4 or 8 bytes.
    func number(_ name: String) -> UInt64? {
        values[name].flatMap { [4, 8].contains($0.count) ? UInt64(littleEndianBytes: $0) : nil }
    }

    /// The kinds of values that are written.
    enum Value {
        case number32(UInt32)
        case number64(UInt64)
        case bytes(Data)
    }

    static func encoded(_ values: [(String, Value)]) -> Data {
        var bytes = Data(UInt16(0x0100).littleEndianBytes)
        for (name, value) in values {
            let (kind, contents): (UInt8, Data) =
                switch value {
                case .number32(let number): (0x04, Data(number.littleEndianBytes))
                case .number64(let number): (0x05, Data(number.littleEndianBytes))
                case .bytes(let bytes): (0x42, bytes)
                }
            bytes.append(kind)
            bytes += Int32(clamping: name.utf8.count).littleEndianBytes + Array(name.utf8)
            bytes += Int32(clamping: contents.count).littleEndianBytes + Array(contents)
        }
        return bytes + [0]
    }
}
