import Crypto
import Foundation

/// What a signature that is asked for will do, for the person who is asked.
package enum SignaturePurpose: Hashable, Sendable {
    /// A login (RFC 4252, 7), to a host if the client said to which.
    case login(user: String, host: BoundHost?)
    /// A signature of a file, a commit or the like (OpenSSH, PROTOCOL.sshsig), in a namespace such as `git`.
    case data(namespace: String)
    case other

    /// Reads what is to be signed.
    init(_ data: Data, sessions: [BoundHost]) {
        self = Self.signedData(data) ?? Self.login(data, sessions) ?? .other
    }

    private static func signedData(_ data: Data) -> SignaturePurpose? {
        guard data.starts(with: Data("SSHSIG".utf8)) else { return nil }
        var reader = SSHReader(Data(data.dropFirst(6)))
        guard let namespace = try? reader.text() else { return nil }
        return .data(namespace: namespace)
    }

    private static func login(_ data: Data, _ sessions: [BoundHost]) -> SignaturePurpose? {
        var reader = SSHReader(data)
        // SSH_MSG_USERAUTH_REQUEST
        guard let session = try? reader.string(), (try? reader.byte()) == 50, let user = try? reader.text(),
            (try? reader.text()) == "ssh-connection", let method = try? reader.text(), method.hasPrefix("publickey")
        else { return nil }
        return .login(user: user, host: sessions.last { $0.session == session })
    }
}

/// The host at the other end of a session, as the client says (OpenSSH, PROTOCOL.agent, "session-bind@openssh.com").
///
/// What the client says is not proof: a program that may use the agent may also lie about the host.
package struct BoundHost: Hashable, Sendable {
    package var key: Data
    package var session: Data
    /// Whether the host itself was given the use of the agent.
    package var isForwarded: Bool

    init(from reader: inout SSHReader) throws(SSHAgentError) {
        key = try reader.string()
        session = try reader.string()
        _ = try reader.string()
        isForwarded = try reader.boolean()
        guard reader.isAtEnd else { throw .malformed }
    }

    /// The host key's fingerprint as OpenSSH prints it.
    package var fingerprint: String {
        let digest = Data(SHA256.hash(data: key)).base64EncodedString()
        return "SHA256:" + digest.prefix { $0 != "=" }
    }
}
