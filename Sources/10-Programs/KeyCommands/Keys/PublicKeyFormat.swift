import ArgumentParser
import Bytes
import Certificates
import CommandKit
import Crypto
import FoundationEssentials
import SSHAgent
import StatusCodes
import SwiftASN1
import VaultKeys

/// The form of a public key.
package enum PublicKeyFormat: String, CaseIterable, ExpressibleByArgument {
    case pem, der, openssh, jwk

    /// Returns the key in this form. Text ends with a newline.
    package func encoding(of key: VaultKey, comment: String) throws -> Data {
        let data = key.keyData
        switch self {
        case .der: return try Self.info(of: data)
        case .pem: return try PEM.encoding(Self.info(of: data), as: "PUBLIC KEY")
        case .openssh:
            guard let key = SSHPublicKey(data) else { throw Self.unknown(data, "OpenSSH") }
            return Data((key.line(comment: comment) + "\n").utf8)
        case .jwk:
            guard let key = JSONWebKey(data) else { throw Self.unknown(data, "a JSON web key") }
            do {
                return Data((try JSON.string(key) + "\n").utf8)
            } catch {
                throw Self.unknown(data, "JSON")
            }
        }
    }

    /// Returns a key of ML-DSA or ML-KEM in this form (RFC 9881, RFC 9935).
    func encoding(of bytes: Data, _ kind: PostQuantumKind) throws -> Data {
        let info: Data
        do {
            info = try kind.subjectPublicKeyInfo(bytes)
        } catch {
            throw Failure(status: errSecDecode, "the public key cannot be written: \(error)")
        }
        switch self {
        case .der: return info
        case .pem: return PEM.encoding(info, as: "PUBLIC KEY")
        case .openssh, .jwk:
            throw Failure(
                status: errSecParam,
                "there is no way to write a key of type \(kind.rawValue) as \(rawValue): use --format pem")
        }
    }

    private static func info(of key: KeyData) throws -> Data {
        do {
            return try key.subjectPublicKeyInfo()
        } catch {
            throw Failure(status: errSecDecode, "the public key cannot be written: \(error)")
        }
    }

    private static func unknown(_ key: KeyData, _ form: String) -> Failure {
        Failure(
            status: errSecParam,
            "there is no way to write a key of type \(KeyType.name(key.type, sizeInBits: key.sizeInBits)) as \(form): "
                + "use --format pem")
    }
}

extension SSHPublicKey {
    /// Returns nil for a kind of key that SSH does not have.
    init?(_ key: KeyData) {
        switch (key.type, key.sizeInBits) {
        case (.ellipticCurve, 256): self.init(.ellipticCurve(.p256, point: key.publicRepresentation))
        case (.ellipticCurve, 384): self.init(.ellipticCurve(.p384, point: key.publicRepresentation))
        case (.ellipticCurve, 521): self.init(.ellipticCurve(.p521, point: key.publicRepresentation))
        case (.ellipticCurve, _): return nil
        case (.ed25519, _): self.init(.ed25519(key.publicRepresentation))
        case (.rsa, _):
            guard let numbers = RSANumbers(key) else { return nil }
            self.init(.rsa(exponent: numbers.exponent, modulus: numbers.modulus))
        }
    }
}

/// The numbers of an RSA public key, big-endian and without leading zeros.
private struct RSANumbers {
    let modulus: Data
    let exponent: Data

    init?(_ key: KeyData) {
        guard key.type == .rsa, let root = try? DER.parse(Array(key.publicRepresentation)),
            case .constructed(let nodes) = root.content
        else { return nil }
        let numbers = nodes.compactMap { node -> Data? in
            guard case .primitive(let bytes) = node.content else { return nil }
            return Data(bytes.drop { $0 == 0 })
        }
        guard numbers.count == 2 else { return nil }
        (modulus, exponent) = (numbers[0], numbers[1])
    }
}

/// A public key as in RFC 7517. Its identifier is the thumbprint of RFC 7638.
private struct JSONWebKey: Encodable {
    private var crv: String?
    private var e: String?
    private var kid: String?
    private var kty: String
    private var n: String?
    private var x: String?
    private var y: String?

    init?(_ key: KeyData) {
        switch key.type {
        case .ellipticCurve:
            guard let name = [256: "P-256", 384: "P-384", 521: "P-521"][key.sizeInBits] else { return nil }
            let coordinates = key.publicRepresentation.dropFirst()
            (kty, crv) = ("EC", name)
            x = UnpaddedBase64.url.string(coordinates.prefix(key.blockSize))
            y = UnpaddedBase64.url.string(coordinates.suffix(key.blockSize))
        case .ed25519:
            // RFC 8037, 2.
            (kty, crv, x) = ("OKP", "Ed25519", UnpaddedBase64.url.string(key.publicRepresentation))
        case .rsa:
            guard let numbers = RSANumbers(key) else { return nil }
            (kty, n, e) = (
                "RSA", UnpaddedBase64.url.string(numbers.modulus), UnpaddedBase64.url.string(numbers.exponent)
            )
        }
        // The thumbprint is the hash of the members that are set so far, sorted by name and without blanks.
        guard let canonical = try? JSON.string(self) else { return nil }
        kid = UnpaddedBase64.url.string(SHA256.hash(data: Data(canonical.utf8)))
    }
}
