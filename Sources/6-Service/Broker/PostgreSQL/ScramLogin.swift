import Bytes
import Crypto
import CryptoExtras
import FoundationEssentials

/// The client's part of SCRAM-SHA-256 (RFC 5802, RFC 7677), by which a server learns that a password is known, and not
/// the password.
package struct ScramLogin: Sendable {
    /// The mechanism that was chosen.
    package let mechanism: String
    /// Which binding there is, as the client says first (RFC 5802, 7, `gs2-header`).
    private let header: String
    private let binding: [UInt8]
    private let nonce: String

    private static let (plain, bound) = ("SCRAM-SHA-256", "SCRAM-SHA-256-PLUS")
    /// From RFC 7677, 4, on, up to what a server may cost the broker: about a second.
    package static let iterations = 4_096...1_000_000
    private static let longestSalt = 1_024

    /// Chooses a mechanism.
    ///
    /// - Parameters:
    ///   - mechanisms: Those of the server.
    ///   - binding: What `tls-server-end-point` is for the connection (RFC 5929, 4); nil if it has none.
    ///   - nonce: Printable ASCII without a comma; random, but for tests.
    /// - Throws: ``PostgresProblem`` if the server has no SCRAM-SHA-256.
    package init(
        _ mechanisms: [String], binding: [UInt8]?, nonce: String = Self.nonce()
    ) throws(PostgresProblem) {
        self.nonce = nonce
        if let binding, mechanisms.contains(Self.bound) {
            (mechanism, header, self.binding) = (Self.bound, "p=tls-server-end-point,,", binding)
        } else if mechanisms.contains(Self.plain) {
            // With `y`, a server that has the other mechanism sees that somebody hid it.
            (mechanism, header, self.binding) = (Self.plain, binding == nil ? "n,," : "y,,", [])
        } else {
            throw PostgresProblem("the server does not offer SCRAM-SHA-256")
        }
    }

    /// 144 random bits.
    package static func nonce() -> String {
        var random = SystemRandomNumberGenerator()
        return Data((0..<18).map { _ in UInt8.random(in: 0...255, using: &random) }).base64EncodedString()
    }

    // PostgreSQL takes the user from the beginning of the session.
    private var firstBare: String { "n=,r=\(nonce)" }

    /// The first message.
    package var first: [UInt8] { Array((header + firstBare).utf8) }

    /// What the server has to prove at the end.
    package struct Expectation: Sendable {
        fileprivate let signature: Data

        /// Checks the server's last message.
        ///
        /// - Throws: ``PostgresProblem`` if the server does not know the password either.
        package func check(_ message: [UInt8]) throws(PostgresProblem) {
            let text = String(decoding: message, as: UTF8.self)
            guard let value = text.split(separator: ",", omittingEmptySubsequences: false).first,
                value.hasPrefix("v="), let given = Data(base64Encoded: String(value.dropFirst(2))),
                isEqualInConstantTime(given, signature)
            else { throw PostgresProblem("the server did not prove that it knows the password") }
        }
    }

    /// Answers the server's first message. Takes up to about a second.
    ///
    /// - Parameter password: Its bytes go in as they are. RFC 7677 has SASLprep (RFC 4013) first, which changes nothing
    ///   in ASCII.
    /// - Throws: ``PostgresProblem``.
    package func answer(
        _ message: [UInt8], with password: SecretBytes
    ) throws(PostgresProblem) -> (message: [UInt8], expectation: Expectation) {
        let (salt, rounds, joint) = try Self.parts(message, after: nonce)
        let key: SymmetricKey
        do {
            key = try password.withUnsafeBytes {
                try KDF.Insecure.PBKDF2.deriveKey(
                    from: $0, salt: salt, using: .sha256, outputByteCount: SHA256.byteCount,
                    unsafeUncheckedRounds: rounds)
            }
        } catch {
            throw PostgresProblem("no key can be made of the password")
        }
        let channel = Data(Array(header.utf8) + binding).base64EncodedString()
        let last = "c=\(channel),r=\(joint)"
        let all = Data("\(firstBare),".utf8) + message + Data(",\(last)".utf8)
        // A SymmetricKey wipes its bytes when it goes.
        let clientKey = SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Data("Client Key".utf8), using: key))
        let storedKey = SymmetricKey(data: clientKey.withUnsafeBytes { SHA256.hash(data: $0) })
        let signature = HMAC<SHA256>.authenticationCode(for: all, using: storedKey)
        // The proof is no secret: it goes out, and shows the key to nobody who does not know the other one.
        let proof = clientKey.withUnsafeBytes { key in zip(key, signature).map { $0 ^ $1 } }
        let serverKey = SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Data("Server Key".utf8), using: key))
        let expectation = Expectation(
            signature: Data(HMAC<SHA256>.authenticationCode(for: all, using: serverKey)))
        return (Array("\(last),p=\(Data(proof).base64EncodedString())".utf8), expectation)
    }

    private static func parts(
        _ message: [UInt8], after nonce: String
    ) throws(PostgresProblem) -> (salt: Data, rounds: Int, nonce: String) {
        guard message.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw malformed }
        let parts = String(decoding: message, as: UTF8.self).split(separator: ",", omittingEmptySubsequences: false)
        // Further parts are ignored (RFC 5802, 7). One that must not be, `m=`, stands first.
        guard parts.count >= 3, parts[0].hasPrefix("r="), parts[1].hasPrefix("s="), parts[2].hasPrefix("i=") else {
            throw malformed
        }
        let joint = String(parts[0].dropFirst(2))
        guard joint.hasPrefix(nonce), joint.utf8.count > nonce.utf8.count else { throw malformed }
        let digits = parts[2].dropFirst(2)
        guard let salt = Data(base64Encoded: String(parts[1].dropFirst(2))), !salt.isEmpty,
            salt.count <= longestSalt, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let rounds = Int(digits)
        else { throw malformed }
        guard iterations.contains(rounds) else {
            throw PostgresProblem(
                "the server wants \(rounds) iterations of SCRAM: the broker takes \(iterations.lowerBound) to "
                    + "\(iterations.upperBound)")
        }
        return (salt, rounds, joint)
    }

    private static let malformed = PostgresProblem("the server's message of SCRAM is malformed")
}
