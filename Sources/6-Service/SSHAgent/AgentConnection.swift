import FoundationEssentials

/// The keys an agent has, and their use.
package protocol AgentKeys: Sendable {
    /// Returns the keys and their names.
    func keys() throws(SSHAgentError) -> [(key: SSHPublicKey, comment: String)]

    /// Signs `data`, asking a person where the key wants it.
    ///
    /// - Parameter asker: The host that was given the use of the agent and that asks; nil for a program here.
    /// - Returns: For ECDSA `r ‖ s`, for others the signature.
    func sign(
        _ data: Data, with key: SSHPublicKey, _ algorithm: SSHSignatureAlgorithm, for purpose: SignaturePurpose,
        from asker: BoundHost?
    ) throws(SSHAgentError) -> Data
}

/// One client of the agent: answers its messages, one after the other (draft-miller-ssh-agent).
package struct AgentConnection {
    private let keys: any AgentKeys
    private var sessions: [BoundHost] = []
    /// Whether a host gave no proof. Then each later host may be that one.
    private var hasUnprovenHost = false

    /// Sessions a client may name; OpenSSH's agent allows as many.
    private static let mostSessions = 16

    package init(_ keys: any AgentKeys) { self.keys = keys }

    /// Returns the answer to a message, both without their length.
    package mutating func answer(_ message: Data) -> Data {
        do {
            var reader = SSHReader(message)
            switch try reader.byte() {
            case 11: return try identities(&reader)
            case 13: return try sign(&reader)
            case 27: return try extend(&reader)
            // Keys are made and removed with the keychain's own commands.
            default: throw SSHAgentError.unsupported
            }
        } catch {
            // SSH_AGENT_FAILURE
            return Data([5])
        }
    }

    private func identities(_ reader: inout SSHReader) throws(SSHAgentError) -> Data {
        guard reader.isAtEnd else { throw .malformed }
        let found = try keys.keys()
        var writer = SSHWriter()
        // SSH_AGENT_IDENTITIES_ANSWER
        writer.append(byte: 12)
        writer.append(uint32: UInt32(truncatingIfNeeded: found.count))
        for (key, comment) in found {
            writer.append(string: key.blob)
            writer.append(string: comment.utf8)
        }
        return writer.message
    }

    private func sign(_ reader: inout SSHReader) throws(SSHAgentError) -> Data {
        let (blob, data, flags) = (try reader.string(), try reader.string(), try reader.uint32())
        guard reader.isAtEnd else { throw .malformed }
        guard let key = try keys.keys().first(where: { $0.key.blob == blob })?.key else { throw .noSuchKey }
        let algorithm = try SSHSignatureAlgorithm(key, flags: flags)
        let purpose = SignaturePurpose(data, sessions: sessions, key: blob)
        let asker = sessions.last(where: \.isForwarded)
        let signature = try algorithm.encoded(keys.sign(data, with: key, algorithm, for: purpose, from: asker))
        var writer = SSHWriter()
        // SSH_AGENT_SIGN_RESPONSE
        writer.append(byte: 14)
        writer.append(string: signature)
        return writer.message
    }

    private mutating func extend(_ reader: inout SSHReader) throws(SSHAgentError) -> Data {
        guard try reader.text() == "session-bind@openssh.com" else { throw .unsupported }
        let host: BoundHost
        do {
            host = try BoundHost(from: &reader)
        } catch {
            hasUnprovenHost = true
            throw error
        }
        guard !hasUnprovenHost else { throw .unsupported }
        if let present = sessions.first(where: { $0.session == host.session }) {
            // A session has one host.
            guard present == host else { throw .unsupported }
        } else {
            // A client that logs in with the agent does not forward the agent over the same connection.
            guard sessions.count < Self.mostSessions, sessions.last?.isForwarded != false else { throw .unsupported }
            sessions.append(host)
        }
        // SSH_AGENT_SUCCESS
        return Data([6])
    }
}
