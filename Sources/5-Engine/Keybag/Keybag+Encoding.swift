import Bytes
import Crypto
import Enclave
import FoundationEssentials
import KeychainModel
import PreparedKeys
import SecureMemory

/// The keybag file: a fixed header, one entry for each class key, and a MAC over everything before it.
///
///     offset  bytes  field (integers big-endian)
///          0      8  magic "SKKEYBAG"
///          8      2  format version: 5; from earlier software, whose item store is a plain one, 1; 2 if the enclave
///                    has a binding for the passcode; 4 with a counter; 3 with a counter on which no class key depends
///         10      1  enclave kind
///         11      1  passcode key derivation: 0 = no passcode, 1 = Argon2id
///         12     16  identifier
///         28     16  identifier of the keybag this one replaced, or zeros
///         44     32  salt
///         76      1  number of entries
///         77   41*n  entries: class code, 40 bytes of wrapped key; ascending by class code
///          …     25  only with a passcode: 16 bytes of salt, KiB of memory (4), passes (4), wrong
///                    passcodes in a row that erase the vault (1, 0 = never)
///          …   2+b  from version 2: size of the enclave's binding, the binding
///          …     12  from version 3: the counter's name in the enclave (4), its value for this keybag (8); zeros in
///                    version 5 without a counter
///          …   2+f  from version 4: size of the secret that the enclave reveals at that value, sealed; the same
///          …      8  from version 5: number of the last change of the item store
///        end     32  HMAC-SHA256 under the enclave's key for "swift-keychain/v1/keybag"
extension Keybag {
    /// The largest size of the file: with one entry for each class code that a byte can hold.
    package static let largestEncoding =
        headerSize + 255 * entrySize + passcodeSize + 2 + EnclaveLimits.blobSize + counterSize + 2
        + EnclaveLimits.blobSize + sequenceSize + macSize

    package func encoded(in enclave: any Enclave) throws(KeybagError) -> Data {
        var encoded = Data(Self.magic)
        let binding = passcode?.binding ?? Data()
        let version: UInt8 =
            if storeSequence != nil {
                5
            } else if let freshness {
                freshness.sealed.isEmpty ? 3 : 4
            } else {
                binding.isEmpty ? 1 : 2
            }
        encoded.append(contentsOf: [0, version, enclaveKind.rawValue, passcode == nil ? 0 : 1])
        encoded.append(Self.bytes(of: identifier))
        encoded.append(replaces.map(Self.bytes(of:)) ?? Data(count: 16))
        encoded.append(salt)
        encoded.append(UInt8(truncatingIfNeeded: wrappedKeys.count))
        for (protection, wrapped) in wrappedKeys.entries {
            encoded.append(protection.storedCode)
            encoded.append(wrapped)
        }
        if let passcode {
            encoded.append(contentsOf: passcode.salt)
            for number in [passcode.cost.memoryKiB, passcode.cost.passes] {
                encoded.append(bigEndian: number)
            }
            encoded.append(passcode.eraseAfter ?? 0)
        }
        if version >= 2 {
            encoded.append(bigEndian: UInt16(clamping: binding.count))
            encoded.append(binding)
        }
        if version >= 3 {
            encoded.append(bigEndian: freshness?.counter.name ?? 0)
            encoded.append(bigEndian: freshness?.counter.value ?? 0)
        }
        if version >= 4 {
            let sealed = freshness?.sealed ?? Data()
            encoded.append(bigEndian: UInt16(clamping: sealed.count))
            encoded.append(sealed)
        }
        if let storeSequence { encoded.append(bigEndian: storeSequence) }
        let key = try Self.derive(in: enclave, salt: salt, context: Self.macContext)
        PreparedHMAC(key).authenticate([UInt8](encoded)) { encoded.append(contentsOf: $0) }
        return encoded
    }

    /// Decodes a stored keybag after checking its MAC.
    package init(decoding encoded: Data, in enclave: any Enclave) throws(KeybagError) {
        let bytes = [UInt8](encoded)
        guard bytes.count >= 10, Array(bytes[0..<8]) == Self.magic else {
            throw .malformed(reason: "not a keybag")
        }
        let version = UInt16(bigEndianBytes: bytes[8..<10])
        guard (1...5).contains(version) else { throw .unknownVersion(version) }
        guard bytes.count >= Self.headerSize + Self.macSize else {
            throw .malformed(reason: "only \(bytes.count) bytes")
        }
        let places = try Places(in: bytes, version)
        guard let kind = EnclaveKind(rawValue: bytes[10]), kind == enclave.kind else {
            throw .otherEnclave(stored: bytes[10])
        }
        let salt = Data(bytes[44..<76])
        let key = try Self.derive(in: enclave, salt: salt, context: Self.macContext)
        let isAuthentic = PreparedHMAC(key).authenticate(Array(bytes[..<places.body])) { code in
            bytes[places.body...].withUnsafeBytes { isEqualInConstantTime($0, code) }
        }
        guard isAuthentic else { throw .authenticationFailed }
        guard version != 4 || places.body > places.counter + 2 else {
            throw .malformed(reason: "nothing sealed to its counter")
        }

        var wrapped = ClassTable<Data>()
        for index in 0..<places.count {
            let start = Self.headerSize + index * Self.entrySize
            guard let protection = ProtectionClass(storedCode: bytes[start]), wrapped[protection] == nil else {
                throw .malformed(reason: "class code \(bytes[start])")
            }
            wrapped[protection] = Data(bytes[(start + 1)..<(start + Self.entrySize)])
        }
        let replaced = Self.uuid(bytes[28..<44])
        self.init(
            identifier: Self.uuid(bytes[12..<28]), replaces: replaced == Self.zero ? nil : replaced,
            enclaveKind: kind, salt: salt,
            passcode: bytes[11] == 1
                ? try Self.passcode(
                    bytes[places.entries..<(places.entries + Self.passcodeSize)],
                    binding: version >= 2 ? Data(bytes[places.bindingStart..<places.binding]) : Data()) : nil,
            wrappedKeys: wrapped,
            freshness: version >= 3
                ? Self.freshness(
                    Self.counter(bytes[places.binding..<places.counter]),
                    sealed: Data(bytes[places.counter..<places.sealed].dropFirst(2))) : nil,
            storeSequence: version >= 5 ? UInt64(bigEndianBytes: bytes[places.sealed..<places.body]) : nil)
    }

    /// Where the parts of a stored keybag end, in bytes.
    private struct Places {
        /// The number of class keys.
        let count: Int
        let entries: Int
        /// Where the binding begins, after its size.
        let bindingStart: Int
        let binding: Int
        let counter: Int
        let sealed: Int
        /// All before the MAC.
        let body: Int

        init(in bytes: [UInt8], _ version: UInt16) throws(KeybagError) {
            count = Int(bytes[76])
            guard bytes[11] <= 1 else { throw .malformed(reason: "unknown passcode key derivation \(bytes[11])") }
            entries = Keybag.headerSize + count * Keybag.entrySize
            var end = entries + (bytes[11] == 1 ? Keybag.passcodeSize : 0)
            bindingStart = end + 2
            if version >= 2 {
                guard bytes.count >= bindingStart + Keybag.macSize else {
                    throw .malformed(reason: "only \(bytes.count) bytes")
                }
                end = bindingStart + Int(bigEndianBytes: bytes[end..<bindingStart])
            }
            binding = end
            if version >= 3 { end += Keybag.counterSize }
            counter = end
            if version >= 4 {
                guard bytes.count >= counter + 2 + Keybag.macSize else {
                    throw .malformed(reason: "only \(bytes.count) bytes")
                }
                end += 2 + Int(bigEndianBytes: bytes[counter..<(counter + 2)])
            }
            sealed = end
            if version >= 5 { end += Keybag.sequenceSize }
            body = end
            guard bytes.count == body + Keybag.macSize else {
                throw .malformed(reason: "\(bytes.count) bytes for \(count) class keys")
            }
        }
    }

    /// Returns the identifier in a keybag that nobody has opened; nil if `encoded` does not begin as a keybag.
    package static func identifier(of encoded: Data) -> UUID? {
        let bytes = [UInt8](encoded)
        guard bytes.count >= headerSize, bytes.starts(with: magic) else { return nil }
        return uuid(bytes[12..<28])
    }

    /// No enclave gives a counter the name 0 (TPM 2.0 Library, Part 2, 7.2: indexes begin at 0x01000000).
    private static func freshness(_ counter: RollbackCounter, sealed: Data) -> Freshness? {
        counter.name == 0 ? nil : Freshness(counter: counter, sealed: sealed)
    }

    /// `bytes` always has ``counterSize`` bytes.
    private static func counter(_ bytes: ArraySlice<UInt8>) -> RollbackCounter {
        RollbackCounter(
            name: UInt32(bigEndianBytes: bytes.prefix(4)), value: UInt64(bigEndianBytes: bytes.dropFirst(4)))
    }

    /// `bytes` always has ``passcodeSize`` bytes.
    private static func passcode(_ bytes: ArraySlice<UInt8>, binding: Data) throws(KeybagError) -> PasscodeProtection {
        let start = bytes.startIndex
        let cost = Argon2id.Cost(
            memoryKiB: UInt32(bigEndianBytes: bytes[(start + 16)..<(start + 20)]),
            passes: UInt32(bigEndianBytes: bytes[(start + 20)..<(start + 24)]))
        guard cost.isSensible else {
            throw .malformed(reason: "a passcode that costs \(cost.memoryKiB) KiB and \(cost.passes) passes")
        }
        let eraseAfter = bytes[start + 24]
        return PasscodeProtection(
            salt: Array(bytes[start..<(start + 16)]), cost: cost, eraseAfter: eraseAfter == 0 ? nil : eraseAfter,
            binding: binding)
    }

    private static let magic = [UInt8]("SKKEYBAG".utf8)
    private static let headerSize = 77
    private static let entrySize = 41
    private static let passcodeSize = 16 + 4 + 4 + 1
    private static let counterSize = 4 + 8
    private static let sequenceSize = 8
    private static let macSize = 32
    private static let macContext = "swift-keychain/v1/keybag"
    private static let zero = uuid([UInt8](repeating: 0, count: 16)[...])

    private static func bytes(of identifier: UUID) -> Data {
        withUnsafeBytes(of: identifier.uuid) { Data($0) }
    }

    /// `bytes` always has sixteen bytes.
    private static func uuid(_ bytes: ArraySlice<UInt8>) -> UUID {
        bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
