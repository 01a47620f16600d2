import Certificates
import Crypto
import FoundationEssentials
import KeyCryptography
import SwiftASN1

/// A host's public key, which has signed the session that it is the host of (RFC 4253, 8).
struct HostKey {
    private enum Kind {
        case edwards(Curve25519.Signing.PublicKey)
        case curve(KeyData, coordinateSize: Int)
        case rsa(KeyData)
    }

    private let kind: Kind
    /// What signatures of this key are called, with the digest.
    private let algorithms: [String: DigestAlgorithm]

    /// - Parameter blob: A key, or a certificate of one (OpenSSH, PROTOCOL.certkeys).
    /// - Throws: ``SSHAgentError/malformed``, also for kinds of keys that are not known.
    init(blob: Data) throws(SSHAgentError) {
        var reader = SSHReader(blob)
        var name = try reader.text()
        let ofCertificates = "-cert-v01@openssh.com"
        let isCertificate = name.hasSuffix(ofCertificates)
        if isCertificate {
            name.removeLast(ofCertificates.count)
            // A nonce; the key's own fields follow.
            _ = try reader.string()
        }
        switch name {
        case "ssh-ed25519":
            guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: reader.string()) else {
                throw .malformed
            }
            (kind, algorithms) = (.edwards(key), [name: .sha512])
        case "ssh-rsa":
            let (exponent, modulus) = (try reader.string(), try reader.string())
            kind = .rsa(try Self.key(Self.der(modulus: modulus, exponent: exponent), .rsa))
            algorithms = ["rsa-sha2-256": .sha256, "rsa-sha2-512": .sha512]
        default:
            guard let curve = SSHPublicKey.Curve.allCases.first(where: { name == "ecdsa-sha2-" + $0.rawValue }),
                try reader.text() == curve.rawValue
            else { throw .malformed }
            let point = try reader.string()
            guard point.count == 1 + 2 * curve.coordinateSize else { throw .malformed }
            kind = .curve(try Self.key(point, .ellipticCurve), coordinateSize: curve.coordinateSize)
            let digest: DigestAlgorithm =
                switch curve {
                case .p256: .sha256
                case .p384: .sha384
                case .p521: .sha512
                }
            algorithms = [name: digest]
        }
        guard isCertificate || reader.isAtEnd else { throw .malformed }
    }

    /// Returns whether `signature`, which begins with its algorithm, is this key's for `data`.
    func isValid(_ signature: Data, of data: Data) -> Bool {
        var reader = SSHReader(signature)
        guard let name = try? reader.text(), let digest = algorithms[name], let value = try? reader.string(),
            reader.isAtEnd
        else { return false }
        switch kind {
        case .edwards(let key):
            return key.isValidSignature(value, for: data)
        case .rsa(let key):
            return Self.isValid(value, of: data, by: key, .rsaPKCS1(.message(digest)))
        case .curve(let key, let size):
            var numbers = SSHReader(value)
            guard let r = try? numbers.integer(size: size), let s = try? numbers.integer(size: size), numbers.isAtEnd
            else { return false }
            return Self.isValid(r + s, of: data, by: key, .ecdsa(.rfc4754, .message(digest)))
        }
    }

    private static func isValid(
        _ signature: Data, of data: Data, by key: KeyData, _ algorithm: SignatureAlgorithm
    ) -> Bool {
        (try? SoftwareKeys.publicOperations(of: key).isValid(signature, of: data, by: algorithm)) ?? false
    }

    private static func key(_ bytes: Data, _ type: KeyData.KeyType) throws(SSHAgentError) -> KeyData {
        do throws(CertificateError) {
            return try KeyData(bytes, type: type, keyClass: .public)
        } catch {
            throw .malformed
        }
    }

    /// Encodes an RSAPublicKey (RFC 8017, A.1.1). A number of SSH has the form of an INTEGER's contents.
    private static func der(modulus: Data, exponent: Data) -> Data {
        var serializer = DER.Serializer()
        serializer.appendConstructedNode(identifier: .sequence) { numbers in
            for number in [modulus, exponent] {
                numbers.appendPrimitiveNode(identifier: .integer) { $0.append(contentsOf: number) }
            }
        }
        return Data(serializer.serializedBytes)
    }
}

extension SSHReader {
    /// Reads a number that is not negative, and returns it as `size` big-endian bytes.
    fileprivate mutating func integer(size: Int) throws(SSHAgentError) -> Data {
        let digits = try string().drop { $0 == 0 }
        guard digits.count <= size else { throw .malformed }
        return Data(count: size - digits.count) + digits
    }
}
