import Crypto
import FoundationEssentials

/// The purpose of a requested signature, for the person who is asked.
package enum SignaturePurpose: Hashable, Sendable {
    /// A login (RFC 4252, 7), to a host if the client said to which.
    case login(user: String, host: BoundHost?)
    /// A signature of a file, a commit or the like (OpenSSH, PROTOCOL.sshsig), in a namespace such as `git`.
    case data(namespace: String)
    case other

    /// Reads what is to be signed.
    ///
    /// - Parameter key: The key that signs.
    init(_ data: Data, sessions: [BoundHost], key: Data) {
        self = Self.signedData(data) ?? Self.login(data, sessions, key) ?? .other
    }

    private static func signedData(_ data: Data) -> SignaturePurpose? {
        guard data.starts(with: Data("SSHSIG".utf8)) else { return nil }
        var reader = SSHReader(Data(data.dropFirst(6)))
        // Something reserved, the hash function and the digest.
        guard let namespace = try? reader.text(), !namespace.isEmpty, (try? reader.string()) != nil,
            let length = digests[(try? reader.text()) ?? ""], (try? reader.string())?.count == length, reader.isAtEnd
        else { return nil }
        return .data(namespace: namespace)
    }

    /// In bytes.
    private static let digests = ["sha256": 32, "sha512": 64]

    private static func login(_ data: Data, _ sessions: [BoundHost], _ key: Data) -> SignaturePurpose? {
        var reader = SSHReader(data)
        // SSH_MSG_USERAUTH_REQUEST
        guard let session = try? reader.string(), (try? reader.byte()) == 50, let user = try? reader.text(),
            (try? reader.text()) == "ssh-connection", let method = try? reader.text(), (try? reader.boolean()) == true,
            // The algorithm and the key.
            (try? reader.string()) != nil, (try? reader.string()) == key
        else { return nil }
        var named: Data?
        if method == "publickey-hostbound-v00@openssh.com" {
            named = try? reader.string()
            guard named != nil else { return nil }
        } else if method != "publickey" {
            return nil
        }
        guard reader.isAtEnd else { return nil }
        guard let bound = sessions.last(where: { $0.session == session }) else { return .login(user: user, host: nil) }
        // A host that was given the use of the agent can sign another host's session as well. So beyond the first
        // the host's key has to be part of what is signed, which the host at the other end compares with its own
        // (OpenSSH, PROTOCOL, "publickey-hostbound-v00@openssh.com").
        let isNamed = named.map { $0 == bound.key } ?? (sessions.first == bound)
        return .login(user: user, host: isNamed ? bound : nil)
    }
}

/// The host at the other end of a session, which has signed that (OpenSSH, PROTOCOL.agent, "session-bind@openssh.com").
///
/// A program of the same user that may use the agent need not say so, or can say it of a session that it has itself.
package struct BoundHost: Hashable, Sendable {
    package var key: Data
    package var session: Data
    /// Whether the host itself was given the use of the agent.
    package var isForwarded: Bool

    init(from reader: inout SSHReader) throws(SSHAgentError) {
        key = try reader.string()
        session = try reader.string()
        let signature = try reader.string()
        isForwarded = try reader.boolean()
        guard reader.isAtEnd, !session.isEmpty, try HostKey(blob: key).isValid(signature, of: session) else {
            throw .malformed
        }
    }

    /// The host key's fingerprint as OpenSSH prints it.
    package var fingerprint: String { Self.fingerprint(of: key) }

    /// A host key's fingerprint as OpenSSH prints it.
    package static func fingerprint(of key: Data) -> String {
        let digest = Data(SHA256.hash(data: key)).base64EncodedString()
        return "SHA256:" + digest.prefix { $0 != "=" }
    }
}
