import Bytes
import Certificates
import Crypto
import CryptoExtras
import FoundationEssentials
import SwiftASN1
import SystemLibraries

/// A private key in OpenSSH's own form (OpenSSH, PROTOCOL.key).
package struct OpenSSHFile {
    /// Why a key is not read.
    package enum Failure: Error, Equatable {
        case malformed
        /// A kind of key that the keychain has no type for, such as one of a token: its name in SSH.
        case foreign(String)
        /// A cipher that `ssh-keygen` takes only if it is asked to.
        case unusualCipher(String)
        case wrongPassphrase
        /// The derivation has more rounds than any program uses.
        case tooManyRounds
    }

    private enum Cipher {
        case counter(keySize: Int)
        case chained(keySize: Int)

        init?(_ name: String) {
            let sizes = ["128": 16, "192": 24, "256": 32]
            guard name.hasPrefix("aes"), let size = sizes[String(name.dropFirst(3).prefix(3))] else { return nil }
            switch name.dropFirst(6) {
            case "-ctr": self = .counter(keySize: size)
            case "-cbc": self = .chained(keySize: size)
            default: return nil
            }
        }

        var keySize: Int {
            switch self {
            case .counter(let size), .chained(let size): size
            }
        }
    }

    /// The name of the key's kind.
    private let kind: String
    private let cipher: String
    /// The list of private keys, as it is in the file.
    private let keys: Data
    private let salt: Data
    private let rounds: Int

    package var isEncrypted: Bool { cipher != "none" }

    /// `ssh-keygen` takes 16 by default, and people who want more some hundreds. A round takes up to ten milliseconds.
    private static let mostRounds = 2_000

    /// - Parameter blob: What stands between the first and the last line.
    /// - Throws: ``Failure``.
    package init(_ blob: Data) throws(Failure) {
        do throws(SSHAgentError) {
            let magic = Data("openssh-key-v1\0".utf8)
            guard blob.starts(with: magic) else { throw .malformed }
            var reader = SSHReader(Data(blob.dropFirst(magic.count)))
            cipher = try reader.text()
            let derivation = try reader.text()
            var parameters = SSHReader(try reader.string())
            // No program writes more than one key.
            guard try reader.uint32() == 1 else { throw .malformed }
            var publicKey = SSHReader(try reader.string())
            kind = try publicKey.text()
            keys = .wipedWhenFreed(try reader.string())
            guard derivation != "none" else {
                guard cipher == "none" else { throw .malformed }
                (salt, rounds) = (Data(), 0)
                return
            }
            guard derivation == "bcrypt" else { throw .malformed }
            (salt, rounds) = (try parameters.string(), Int(clamping: try parameters.uint32()))
        } catch {
            throw .malformed
        }
        guard rounds <= Self.mostRounds else { throw .tooManyRounds }
    }

    /// Returns the key.
    ///
    /// - Parameter passphrase: Called if the key is encrypted.
    /// - Throws: ``Failure``; `SystemLibraryError` if a library is missing; what `passphrase` throws.
    package func key(passphrase: () throws -> SecretBytes) throws -> KeyData {
        let known = ["ssh-ed25519", "ssh-rsa"] + SSHPublicKey.Curve.allCases.map { "ecdsa-sha2-" + $0.rawValue }
        guard known.contains(kind) else { throw Failure.foreign(kind) }
        let plain = isEncrypted ? try decrypted(passphrase) : keys
        var reader = SSHReader(plain)
        // Two equal numbers show that the passphrase was the right one.
        guard let first = try? reader.uint32(), let second = try? reader.uint32() else { throw Failure.malformed }
        guard first == second else { throw isEncrypted ? Failure.wrongPassphrase : .malformed }
        do {
            guard try reader.text() == kind else { throw Failure.malformed }
            switch kind {
            case "ssh-ed25519": return try Self.edwardsKey(&reader)
            case "ssh-rsa": return try Self.rsaKey(&reader)
            default: return try Self.curveKey(&reader)
            }
        } catch let error as SystemLibraryError {
            throw error
        } catch {
            throw Failure.malformed
        }
    }

    // MARK: Fields

    private static func edwardsKey(_ reader: inout SSHReader) throws -> KeyData {
        let (point, secret) = (try reader.string(), Data.wipedWhenFreed(try reader.string()))
        let key = try KeyData(.wipedWhenFreed(Data(secret.prefix(32))), type: .ed25519, keyClass: .private)
        guard secret.count == 64, key.publicRepresentation == point else { throw Failure.malformed }
        return key
    }

    private static func curveKey(_ reader: inout SSHReader) throws -> KeyData {
        guard let curve = SSHPublicKey.Curve(rawValue: try reader.text()) else { throw Failure.malformed }
        let point = try reader.string()
        let scalar = Data.wipedWhenFreed(Data(try reader.string().drop { $0 == 0 }))
        guard scalar.count <= curve.coordinateSize else { throw Failure.malformed }
        let padding = Data(count: curve.coordinateSize - scalar.count)
        return try KeyData(.wipedWhenFreed(point + padding + scalar), type: .ellipticCurve, keyClass: .private)
    }

    private static func rsaKey(_ reader: inout SSHReader) throws -> KeyData {
        let (modulus, exponent) = (try reader.string(), try reader.string())
        let secrets = try (0..<4).map { _ in Data.wipedWhenFreed(try reader.string()) }
        let (secret, coefficient, p, q) = (secrets[0], secrets[1], secrets[2], secrets[3])
        guard [modulus, exponent, secret, p, q].allSatisfy({ $0.count <= 2_049 }) else { throw Failure.malformed }
        // The two exponents of PKCS#1 that OpenSSH leaves out (RFC 8017, A.1.2).
        let numbers = try BigNumbers()
        let (dp, dq) = (
            try numbers.remainder(secret, byOneLessThan: p), try numbers.remainder(secret, byOneLessThan: q)
        )
        var serializer = DER.Serializer()
        serializer.appendConstructedNode(identifier: .sequence) { key in
            for number in [Data([0]), modulus, exponent, secret, p, q, dp, dq, coefficient] {
                key.appendPrimitiveNode(identifier: .integer) { $0.append(contentsOf: number) }
            }
        }
        return try KeyData(.wipedWhenFreed(Data(serializer.serializedBytes)), type: .rsa, keyClass: .private)
    }

    // MARK: Under a passphrase

    // `botan/ffi.h`: algorithm, three costs, result, passphrase and salt, each with its length.
    private typealias Derivation =
        @convention(c) (
            UnsafePointer<CChar>?, Int, Int, Int, UnsafeMutableRawPointer?, Int, UnsafeRawPointer?, Int,
            UnsafeRawPointer?, Int
        ) -> Int32

    private func decrypted(_ passphrase: () throws -> SecretBytes) throws -> Data {
        guard let cipher = Cipher(cipher) else { throw Failure.unusualCipher(cipher) }
        let derive: Derivation = try Self.botan().function("botan_pwdhash")
        let words = try passphrase()
        // A length of zero would mean that the text ends with a zero.
        guard words.count > 0, !salt.isEmpty, rounds > 0 else { throw Failure.wrongPassphrase }
        var status: Int32 = 0
        let derived = try SecretBytes(count: cipher.keySize + 16) { derived in
            words.withUnsafeBytes { words in
                salt.withUnsafeBytes { salt in
                    status = derive(
                        "Bcrypt-PBKDF", rounds, 0, 0, derived.baseAddress, derived.count, words.baseAddress,
                        words.count, salt.baseAddress, salt.count)
                }
            }
        }
        guard status == 0 else { throw Failure.malformed }
        return try derived.withUnsafeBytes { derived in
            let key = SymmetricKey(data: UnsafeRawBufferPointer(rebasing: derived.prefix(cipher.keySize)))
            let vector = derived.suffix(16)
            do {
                switch cipher {
                case .counter:
                    let nonce = try AES._CTR.Nonce(nonceBytes: Array(vector))
                    return .wipedWhenFreed(try AES._CTR.decrypt(keys, using: key, nonce: nonce))
                case .chained:
                    // The padding is OpenSSH's own, and a part of the list.
                    let vector = try AES._CBC.IV(ivBytes: Array(vector))
                    return .wipedWhenFreed(try AES._CBC.decrypt(keys, using: key, iv: vector, noPadding: true))
                }
            } catch {
                throw Failure.malformed
            }
        }
    }

    /// bcrypt_pbkdf, OpenSSH's derivation, is neither in libcrypto nor in libsodium.
    private static func botan() throws(SystemLibraryError) -> SystemLibrary {
        let provides = "a key of OpenSSH under a passphrase"
        for version in (0...19).reversed() {
            if let library = try? SystemLibrary("libbotan-3.so.\(version)", provides: provides) { return library }
        }
        return try SystemLibrary("libbotan-2.so.19", provides: provides)
    }
}

/// Arithmetic with large numbers, by libcrypto (openssl/bn.h).
private struct BigNumbers {
    private typealias Number = OpaquePointer
    private let make: @convention(c) (UnsafePointer<UInt8>?, Int32, Number?) -> Number?
    private let takeOff: @convention(c) (Number?, UInt) -> Int32
    private let divide: @convention(c) (Number?, Number?, Number?, Number?, OpaquePointer?) -> Int32
    private let write: @convention(c) (Number?, UnsafeMutablePointer<UInt8>?, Int32) -> Int32
    private let free: @convention(c) (Number?) -> Void
    private let makeContext: @convention(c) () -> OpaquePointer?
    private let freeContext: @convention(c) (OpaquePointer?) -> Void

    init() throws(SystemLibraryError) {
        let library = try OpenSSL(provides: "RSA keys").library
        make = try library.function("BN_bin2bn")
        takeOff = try library.function("BN_sub_word")
        divide = try library.function("BN_div")
        write = try library.function("BN_bn2binpad")
        free = try library.function("BN_clear_free")
        makeContext = try library.function("BN_CTX_secure_new")
        freeContext = try library.function("BN_CTX_free")
    }

    /// Returns `number` modulo `divisor` − 1, as the contents of an INTEGER.
    func remainder(_ number: Data, byOneLessThan divisor: Data) throws -> Data {
        let (number, divisor, remainder) = (self.number(number), self.number(divisor), self.number(Data()))
        let context = makeContext()
        defer {
            for number in [number, divisor, remainder] { free(number) }
            freeContext(context)
        }
        guard let number, let divisor, let remainder, let context, takeOff(divisor, 1) == 1,
            // Fails if the divisor is zero.
            divide(nil, remainder, number, divisor, context) == 1
        else { throw OpenSSHFile.Failure.malformed }
        var bytes = Data(count: 2_049)
        let written = bytes.withUnsafeMutableBytes { bytes in
            write(remainder, bytes.bindMemory(to: UInt8.self).baseAddress, Int32(clamping: bytes.count))
        }
        guard written == bytes.count else { throw OpenSSHFile.Failure.malformed }
        let start = bytes.firstIndex { $0 != 0 } ?? bytes.count - 1
        return .wipedWhenFreed(Data(bytes[(bytes[start] & 0x80 != 0 ? start - 1 : start)...]))
    }

    private func number(_ bytes: Data) -> Number? {
        bytes.withUnsafeBytes { make($0.bindMemory(to: UInt8.self).baseAddress, Int32(clamping: $0.count), nil) }
    }
}
