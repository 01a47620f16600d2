import Access
import Bytes
import FoundationEssentials
import Frames

/// What `keychain run` and the program that carries its requests say to each other, over a socket between the two.
///
/// `keychain run` has the vault and no network. The other one, `keychain-broker`, has the network, and of the vault
/// only the secrets that rules name.
package enum BrokerMessage: Sendable {
    /// To the broker, once and first.
    case start(BrokerStart)
    /// To the broker: the answer to ``wanted(_:_:)``; no value if nobody allows it.
    case value(Int, SecretBytes?)
    /// To the broker: a request to make, and its body.
    case call(BrokerCall, [UInt8])
    /// To the broker: nobody waits for this call any more.
    case cancel(Int)
    /// To the broker: the answer to ``renew(_:_:)``.
    case renewed(RenewedToken, SecretBytes?)
    /// From the broker: it listens.
    case ready(BrokerPlace)
    /// From the broker: it cannot begin.
    case failed(String)
    /// From the broker: a request wants a secret for which a person is to be asked.
    case wanted(Int, String)
    /// From the broker: what happened with a request.
    case record(BrokeredRequest)
    /// From the broker: what came of a call, and the body of the answer.
    case answer(BrokerAnswer, [UInt8])
    /// From the broker: the login of this rule needs another access token than that of this attempt.
    case renew(Int, Int64)

    /// In bytes.
    package static let longest = 16 << 20

    private enum Kind: UInt8 {
        case start = 1
        case value, call, cancel, renewed
        case ready = 65
        case failed, wanted, record, answer, renew
    }

    package func encode(to buffer: FrameBuffer) {
        switch self {
        case .start(let start):
            buffer.appendFrame(Kind.start.rawValue) {
                buffer.append(json: start.settings)
                buffer.append(list: start.secrets) { secret in
                    buffer.append(secret.placeholder)
                    buffer.append(optional: secret.value) { buffer.append($0) }
                    buffer.append(optional: secret.token) { buffer.append(json: $0) }
                }
            }
        case .value(let number, let secret):
            buffer.appendFrame(Kind.value.rawValue) {
                buffer.append(UInt32(clamping: number))
                buffer.append(optional: secret) { buffer.append($0) }
            }
        case .call(let call, let body): Self.append(Kind.call, call, body, to: buffer)
        case .renewed(let renewed, let token):
            buffer.appendFrame(Kind.renewed.rawValue) {
                buffer.append(json: renewed)
                buffer.append(optional: token) { buffer.append($0) }
            }
        case .renew(let number, let attempt):
            buffer.appendFrame(Kind.renew.rawValue) {
                buffer.append(UInt32(clamping: number))
                buffer.append(attempt)
            }
        case .cancel(let number): buffer.appendFrame(Kind.cancel.rawValue) { buffer.append(UInt32(clamping: number)) }
        case .ready(let place): buffer.appendFrame(Kind.ready.rawValue) { buffer.append(json: place) }
        case .failed(let reason): buffer.appendFrame(Kind.failed.rawValue) { buffer.append(reason) }
        case .wanted(let number, let purpose):
            buffer.appendFrame(Kind.wanted.rawValue) {
                buffer.append(UInt32(clamping: number))
                buffer.append(purpose)
            }
        case .record(let record): buffer.appendFrame(Kind.record.rawValue) { buffer.append(json: record) }
        case .answer(let answer, let body): Self.append(Kind.answer, answer, body, to: buffer)
        }
    }

    private static func append(_ kind: Kind, _ head: some Encodable, _ body: [UInt8], to buffer: FrameBuffer) {
        buffer.appendFrame(kind.rawValue) {
            buffer.append(json: head)
            body.withUnsafeBytes { buffer.append(counted: $0) }
        }
    }

    /// - Parameter frame: A frame without its length.
    package init(_ frame: FrameBuffer) throws(FrameError) {
        var reader = FrameReader(frame)
        guard let kind = Kind(rawValue: try reader.integer(UInt8.self)) else { throw FrameError("an unknown message") }
        switch kind {
        case .start:
            let settings: BrokerSettings = try reader.json(limit: Self.longest)
            let secrets = try reader.list(limit: 1_000) { (reader) throws(FrameError) in
                BrokerStart.Secret(
                    placeholder: try reader.string(limit: 16_384),
                    value: try reader.optional { (reader) throws(FrameError) in try reader.secret(limit: Self.longest)
                    },
                    token: try reader.optional { (reader) throws(FrameError) in try reader.json(limit: Self.longest) })
            }
            self = .start(BrokerStart(settings: settings, secrets: secrets))
        case .value:
            let number = Int(try reader.integer(UInt32.self))
            self = .value(
                number,
                try reader.optional { (reader) throws(FrameError) in try reader.secret(limit: Self.longest) })
        case .call:
            let call: BrokerCall = try reader.json(limit: Self.longest)
            self = .call(call, Array(try reader.counted(limit: Self.longest)))
        case .renewed:
            let renewed: RenewedToken = try reader.json(limit: Self.longest)
            self = .renewed(
                renewed, try reader.optional { (reader) throws(FrameError) in try reader.secret(limit: Self.longest) })
        case .renew:
            let number = Int(try reader.integer(UInt32.self))
            self = .renew(number, try reader.integer(Int64.self))
        case .cancel: self = .cancel(Int(try reader.integer(UInt32.self)))
        case .ready: self = .ready(try reader.json(limit: Self.longest))
        case .failed: self = .failed(try reader.string(limit: Self.longest))
        case .wanted:
            let number = Int(try reader.integer(UInt32.self))
            self = .wanted(number, try reader.string(limit: Self.longest))
        case .record: self = .record(try reader.json(limit: Self.longest))
        case .answer:
            let answer: BrokerAnswer = try reader.json(limit: Self.longest)
            self = .answer(answer, Array(try reader.counted(limit: Self.longest)))
        }
        try reader.finish()
    }
}

/// What the broker does for one run of a program.
package struct BrokerSettings: Codable, Sendable {
    /// What happens to connections to servers that no rule names.
    package enum Others: String, Codable, Sendable, CaseIterable {
        /// They are read like all others, so that a placeholder on its way to a wrong server is recorded.
        case inspect
        /// They pass unread.
        case tunnel
        /// There are none.
        case refuse
    }

    package var rules: [BrokerRule]
    package var others: Others
    /// Certificates in PEM that are trusted beside those of the system.
    package var authorities: String
    /// The file with certificates that the program trusts. The broker removes it, and its folder if nothing else is in
    /// it, when `keychain run` was killed.
    package var certificates: String
    /// The port at which the program finds the broker, if it has a loopback interface of its own: the broker gets
    /// the socket there over its descriptor 4, and behind it one for each rule for PostgreSQL. Nil for a port of this
    /// machine that is free.
    package var port: Int?
    /// Whether it listens for a program. Without, it makes the calls that come over the socket, and those alone.
    package var isProxy: Bool
    /// A server whose address is known without a rule; nil for none.
    package var pinned: BrokerDestination?

    package init(
        rules: [BrokerRule], others: Others, authorities: String, certificates: String, port: Int? = nil,
        isProxy: Bool = true, pinned: BrokerDestination? = nil
    ) {
        self.rules = rules
        self.others = others
        self.authorities = authorities
        self.certificates = certificates
        (self.port, self.isProxy, self.pinned) = (port, isProxy, pinned)
    }
}

/// The settings, and a secret for each rule.
package struct BrokerStart: Sendable {
    package struct Secret: Sendable {
        package var placeholder: String
        /// Nil for a rule that asks a person first.
        package var value: SecretBytes?
        /// For the access token of a login.
        package var token: LoginToken?

        package init(placeholder: String, value: SecretBytes?, token: LoginToken? = nil) {
            self.placeholder = placeholder
            self.value = value
            self.token = token
        }
    }

    package var settings: BrokerSettings
    package var secrets: [Secret]

    package init(settings: BrokerSettings, secrets: [Secret]) {
        self.settings = settings
        self.secrets = secrets
    }
}

/// Where a program finds the broker.
package struct BrokerPlace: Codable, Sendable {
    /// Of the loopback interface, 127.0.0.1.
    package var port: Int
    /// The password of the proxy, with which this run's requests are told from others.
    package var token: String
    /// The certificate, in PEM, of the authority of this run.
    package var certificate: String
    /// The ports of the rules for PostgreSQL, in their order. Empty if the broker gets sockets from the program's own
    /// loopback interface.
    package var databases: [Int]

    package init(port: Int, token: String, certificate: String, databases: [Int] = []) {
        self.databases = databases
        self.port = port
        self.token = token
        self.certificate = certificate
    }
}
