import FoundationEssentials

/// A public key in the form of SSH: RSA (RFC 4253, 6.6), on a NIST curve (RFC 5656, 3.1) or Ed25519 (RFC 8709, 4).
package struct SSHPublicKey: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// Big-endian numbers.
        case rsa(exponent: Data, modulus: Data)
        /// `04 ‖ X ‖ Y`.
        case ellipticCurve(Curve, point: Data)
        /// 32 bytes.
        case ed25519(Data)
    }

    package enum Curve: String, Hashable, Sendable, CaseIterable {
        case p256 = "nistp256"
        case p384 = "nistp384"
        case p521 = "nistp521"

        /// The length of a coordinate in bytes.
        package var coordinateSize: Int {
            switch self {
            case .p256: 32
            case .p384: 48
            case .p521: 66
            }
        }
    }

    package let kind: Kind

    package init(_ kind: Kind) { self.kind = kind }

    /// `ssh-ed25519` and the like.
    package var algorithm: String {
        switch kind {
        case .rsa: "ssh-rsa"
        case .ellipticCurve(let curve, _): "ecdsa-sha2-" + curve.rawValue
        case .ed25519: "ssh-ed25519"
        }
    }

    /// The encoding that names the key in the protocol and that `authorized_keys` has in base64.
    package var blob: Data {
        var writer = SSHWriter()
        writer.append(string: algorithm.utf8)
        switch kind {
        case .rsa(let exponent, let modulus):
            writer.append(integer: exponent)
            writer.append(integer: modulus)
        case .ellipticCurve(let curve, let point):
            writer.append(string: curve.rawValue.utf8)
            writer.append(string: point)
        case .ed25519(let bytes):
            writer.append(string: bytes)
        }
        return writer.message
    }

    /// Returns a line of `authorized_keys` (sshd(8)).
    package func line(comment: String) -> String {
        let printable = comment.filter { !$0.isNewline && $0 != "\0" }
        return "\(algorithm) \(blob.base64EncodedString())" + (printable.isEmpty ? "" : " \(printable)")
    }
}
