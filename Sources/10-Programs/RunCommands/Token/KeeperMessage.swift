import Broker
import Bytes
import CommandKit
import FoundationEssentials
import Frames
import KeychainModel

/// What a command and the process that refreshes its logins say to each other, over a socket between the two.
enum KeeperMessage: Sendable {
    /// To the keeper: an access token is needed.
    case ask(TokenQuestion)
    /// To the keeper: the vault's passcode; none if nobody gives it.
    case passcode(SecretBytes?)
    /// From the keeper: the vault is locked.
    case locked
    /// From the keeper: the answer to the question with this number.
    case token(Int, LoginToken, SecretBytes)
    /// From the keeper: there is no token.
    case failed(Int, KeeperFailure)
    /// From the keeper: a sentence for the person.
    case note(String)

    /// In bytes.
    static let longest = 1 << 20

    private enum Kind: UInt8 {
        case ask = 1
        case passcode
        case locked = 65
        case token, failed, note
    }

    func encode(to buffer: FrameBuffer) {
        switch self {
        case .ask(let question): buffer.appendFrame(Kind.ask.rawValue) { buffer.append(json: question) }
        case .passcode(let passcode):
            buffer.appendFrame(Kind.passcode.rawValue) { buffer.append(optional: passcode) { buffer.append($0) } }
        case .locked: buffer.appendFrame(Kind.locked.rawValue) {}
        case .token(let number, let token, let secret):
            buffer.appendFrame(Kind.token.rawValue) {
                buffer.append(UInt32(clamping: number))
                buffer.append(json: token)
                buffer.append(secret)
            }
        case .failed(let number, let failure):
            buffer.appendFrame(Kind.failed.rawValue) {
                buffer.append(UInt32(clamping: number))
                buffer.append(json: failure)
            }
        case .note(let sentence): buffer.appendFrame(Kind.note.rawValue) { buffer.append(sentence) }
        }
    }

    /// - Parameter frame: A frame without its length.
    init(_ frame: FrameBuffer) throws(FrameError) {
        var reader = FrameReader(frame)
        guard let kind = Kind(rawValue: try reader.integer(UInt8.self)) else { throw FrameError("an unknown message") }
        switch kind {
        case .ask: self = .ask(try reader.json(limit: Self.longest))
        case .passcode:
            self = .passcode(
                try reader.optional { (reader) throws(FrameError) in try reader.secret(limit: Self.longest) })
        case .locked: self = .locked
        case .token:
            let number = Int(try reader.integer(UInt32.self))
            let token: LoginToken = try reader.json(limit: Self.longest)
            self = .token(number, token, try reader.secret(limit: Self.longest))
        case .failed:
            let number = Int(try reader.integer(UInt32.self))
            self = .failed(number, try reader.json(limit: Self.longest))
        case .note: self = .note(try reader.string(limit: Self.longest))
        }
        try reader.finish()
    }
}

/// Which access token is needed.
struct TokenQuestion: Codable, Sendable {
    var number = 0
    var login: LoginName
    var need: StoredLogin.Need
    /// For the audit log.
    var program: String
}

/// Why there is no access token, as a command reports it.
struct KeeperFailure: Codable, Sendable {
    var status: Int32
    var exitCode: Int32
    var message: String

    init(_ failure: Failure) {
        (status, exitCode, message) = (failure.status, failure.exitCode, failure.message)
    }

    var failure: Failure { Failure(status: status, exitCode: exitCode, message) }
}

/// Names a login in the vault.
struct LoginName: Codable, Sendable, Hashable {
    var name: String
    var group: String?
    /// Nil for either.
    var synchronizable: Bool?

    init(_ name: String, group: String? = nil, synchronizable: Bool? = nil) {
        (self.name, self.group, self.synchronizable) = (name, group, synchronizable)
    }

    /// Nil for a reference to another kind of secret.
    init?(_ reference: SecretReference) {
        guard reference.service == StoredLogin.service else { return nil }
        (name, group) = (reference.account, reference.group)
        synchronizable =
            switch reference.synchronizable {
            case .any: nil
            case .synchronizableOnly: true
            case .localOnly: false
            }
    }

    var search: PasswordSearch {
        var search = PasswordSearch(
            service: StoredLogin.service, account: name, group: group,
            synchronizable: synchronizable.map { $0 ? .synchronizableOnly : .localOnly } ?? .any)
        search.query.authentication.prompt = "use the login '\(name)'"
        return search
    }

    var forTerminal: String { "'\(name.escapedForTerminal)'" }
}
