import Bytes
import CommandKit
import FoundationEssentials
import KeychainModel
import StatusCodes
import SwiftASN1
import VaultKeys

/// The name of a private key in the token of the PKCS #11 module (RFC 7512).
struct TokenURI {
    let text: String

    /// - Throws: A `Failure` for a key of which only the public half is here.
    init(_ pair: KeyPair) throws {
        guard pair.hasPrivateHalf else {
            throw Failure(
                status: errSecItemNotFound,
                "only the public half of the key '\(pair.name)' is here: a program cannot sign or decrypt with it. "
                    + "`keychain key public` prints it")
        }
        var parts = ["token=keychain"]
        if let label = Self.label(of: pair) { parts.append("object=\(Self.encoded(label))") }
        // Each byte as three characters, as the RFC recommends.
        parts.append("id=" + (pair.tokenName ?? pair.hash).map(Self.escaped).joined())
        parts.append("type=private")
        text = "pkcs11:" + parts.joined(separator: ";")
    }

    /// Nil for a label that is no text, which the token does not have either.
    private static func label(of pair: KeyPair) -> String? {
        switch pair.label {
        case .string(let text): text
        case .data(let bytes): String(validating: bytes, as: UTF8.self)
        default: nil
        }
    }

    /// Leaves the unreserved characters of RFC 3986 as they are, and no others.
    private static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                String(Unicode.Scalar(byte))
            default: escaped(byte)
            }
        }.joined()
    }

    private static func escaped(_ byte: UInt8) -> String { "%" + [byte].hexadecimal(uppercase: true) }

    /// A file that programs read as a private key: it has this URI and no secret. The form is that of pkcs11-provider.
    func file() throws -> Data {
        do {
            let version: ASN1VisibleString = "PKCS#11 Provider URI v1.0"
            var serializer = DER.Serializer()
            try serializer.appendConstructedNode(identifier: .sequence) { serializer in
                try serializer.serialize(version)
                try serializer.serialize(ASN1UTF8String(text))
            }
            return PEM.encoding(Data(serializer.serializedBytes), as: "PKCS#11 PROVIDER URI")
        } catch {
            throw Failure(status: errSecParam, "the reference to the key cannot be written: \(error)")
        }
    }
}
