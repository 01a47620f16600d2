import FoundationEssentials
import KeychainModel
import SystemBus

/// The sessions of one program.
struct SecretSessions {
    private var sessions: [String: SecretSession] = [:]
    /// The one that was used last at the end.
    private var order: [String] = []
    /// The most sessions. One more takes the place of the one that was not used for the longest time: Python's
    /// SecretStorage opens a session for each item that it reads, and closes none.
    private static let most = 256

    mutating func add(_ session: SecretSession, _ id: String) {
        if sessions.count >= Self.most { sessions[order.removeFirst()] = nil }
        sessions[id] = session
        order.append(id)
    }

    /// - Returns: False if there is no such session.
    mutating func remove(_ path: SecretPath) -> Bool {
        guard case .session(let id) = path, sessions.removeValue(forKey: id) != nil else { return false }
        order.removeAll { $0 == id }
        return true
    }

    mutating func session(at path: String) throws(SecretServiceError) -> SecretSession {
        guard case .session(let id)? = SecretPath(path), let session = sessions[id] else { throw .noSession }
        order.removeAll { $0 == id }
        order.append(id)
        return session
    }
}

/// A secret on its way between a program and the service.
struct TransferredSecret {
    /// The path of the session whose key encrypts the value.
    let session: String
    let parameters: Data
    let value: Data
    let contentType: String
    static let type = "(oayays)"
    /// The longest secret in bytes.
    static let limit = 2 << 20

    /// Nil for another value.
    init?(_ value: BusValue) {
        guard let parts = value.elements, parts.count == 4, let session = parts[0].string,
            case .bytes(let parameters) = parts[1], case .bytes(let bytes) = parts[2], let type = parts[3].string
        else { return nil }
        (self.session, self.parameters, self.value, contentType) = (session, parameters, bytes, type)
    }

    /// The secret of an item for a session.
    init(of item: SecretStore.Item, in session: SecretSession, at path: String) throws(SecretServiceError) {
        guard let secret = item.stored.value else { throw .noObject(item.path.text) }
        contentType = item.contentType.isEmpty ? "text/plain" : item.contentType
        self.session = path
        (parameters, value) = try session.close(secret)
    }

    /// Decrypts the value with the key of its session, and checks its length.
    func opened(in sessions: inout SecretSessions) throws(SecretServiceError) -> Data {
        let opened = try sessions.session(at: session).open(parameters, value)
        guard opened.count <= Self.limit else { throw .limit("a secret has up to 2 MiB") }
        guard contentType.utf8.count <= 255 else { throw .limit("a content type has up to 255 bytes") }
        return opened
    }

    var argument: BusArgument {
        .structure([.path(session), .bytes(parameters), .bytes(value), .string(contentType)])
    }
}
