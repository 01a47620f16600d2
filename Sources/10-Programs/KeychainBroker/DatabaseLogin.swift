#if HTTPClientSupport
import Access
import Broker
import Bytes
import Dispatch
import Foundation
import NIOCore
import NIOPosix
import NIOSSL

/// One connection of a program to a PostgreSQL server: the program logs in at the broker with the placeholder, and the
/// broker at the server with the password.
///
/// After that, bytes pass unread. A mask is of no use: the server gets a proof that the password is known, and not the
/// password.
struct DatabaseLogin: Sendable {
    private let listener: DatabaseListener
    private let program: Prelude.Handle

    /// For the server's part of a log-in.
    private static let patience = TimeAmount.seconds(60)
    /// In bytes, of what a server says of a session before it is ready.
    private static let longestBeginning = 65_536
    /// How often a program may ask whether TLS or GSSAPI is spoken.
    private static let mostQuestions = 4

    init(_ listener: DatabaseListener, _ program: Prelude.Handle) {
        (self.listener, self.program) = (listener, program)
    }

    private var broker: RequestBroker { listener.broker }
    private var destination: BrokerDestination { listener.destination }

    /// What a program is told, and what is recorded.
    private struct Refusal: Error {
        var outcome: BrokeredRequest.Outcome
        /// PostgreSQL's code of the error.
        var code: String
        var reason: String
        /// For the program alone: what the server says.
        var text: String?
    }

    func run() async {
        do {
            switch try await startup() {
            case .login(let request): try await logIn(request)
            case .cancel(let key): try await cancel(key)
            case .encryption: break
            }
        } catch let problem as PostgresProblem {
            await refuse("08P01", problem.reason)
        } catch {
            program.channel.close(promise: nil)
        }
    }

    private func startup() async throws -> PostgresStartup {
        for _ in 0...Self.mostQuestions {
            let message = try await program.next { try PostgresStartup.take(&$0) }
            guard message == .encryption else { return message }
            // The connection does not leave this machine.
            try await program.send([UInt8(ascii: "N")])
        }
        throw PostgresProblem("the program asks for TLS again and again")
    }

    private func refuse(_ code: String, _ text: String) async {
        try? await program.send(.failure(code, "keychain: \(text)"))
        program.channel.close(promise: nil)
    }

    // MARK: The program

    private func logIn(_ request: PostgresStartup.Request) async throws {
        if request.minor > 0 || !request.options.isEmpty {
            try await program.send(.version(without: request.options))
        }
        try await program.send(.passwordRequest)
        let given = try await program.next { try PostgresMessage.take(&$0) }
        guard given.type == UInt8(ascii: "p"), let text = given.text,
            broker.secrets.isPlaceholder(text, of: listener.number)
        else {
            return await refuse(
                "28P01",
                "the password is not the placeholder of \(listener.rule.variable) in the program's environment")
        }
        broker.strangers.remove(program.channel)
        var record = BrokeredRequest(
            .placed, secrets: [listener.rule.variable], host: destination.host, port: destination.port, method: "LOGIN",
            path: "/\(listener.login.database ?? request.database ?? "")")
        let server: Server
        do {
            server = try await connect(for: request, record)
        } catch {
            let refusal = refusal(error)
            (record.outcome, record.reason) = (refusal.outcome, refusal.reason)
            await broker.record(record)
            return await refuse(refusal.code, refusal.text ?? refusal.reason)
        }
        await broker.record(record)
        if let key = server.key { listener.note(key, of: program.channel) }
        closeInTime()
        do {
            try await program.join(server.handle, after: PostgresMessage.authenticated.encoded + server.beginning)
        } catch {
            // A program that ends its session at once has logged in all the same.
            server.handle.channel.close(promise: nil)
            throw error
        }
    }

    /// Ends the session with the rule.
    private func closeInTime() {
        guard let until = listener.rule.until else { return }
        let channel = program.channel
        let rest = TimeAmount.milliseconds(Int64(clamping: (until.timeIntervalSinceNow * 1_000).rounded()))
        let timer = channel.eventLoop.scheduleTask(in: max(.zero, rest)) { channel.close(promise: nil) }
        channel.closeFuture.whenComplete { _ in timer.cancel() }
    }

    private func refusal(_ error: any Error) -> Refusal {
        switch error {
        case let refusal as Refusal: return refusal
        case let refusal as SecretsInUse.Refusal:
            return Refusal(outcome: .refused, code: "28000", reason: refusal.reason)
        case let refusal as ServerAddresses.Refusal:
            return Refusal(outcome: .refused, code: "08001", reason: refusal.reason)
        case let problem as PostgresProblem: return Refusal(outcome: .failed, code: "08006", reason: problem.reason)
        case is Prelude.Ended, is ChannelError, is CancellationError:
            let reason =
                program.channel.isActive
                ? "the server ended the connection, or did not let the program in within 60 seconds"
                : "the program ended the connection"
            return Refusal(outcome: .failed, code: "08006", reason: reason)
        default: return Refusal(outcome: .failed, code: "08001", reason: Exchange.refusal(error).reason)
        }
    }

    // MARK: The server

    private struct Server {
        var handle: Prelude.Handle
        /// What it says of the session, until it is ready.
        var beginning: [UInt8] = []
        /// The number of the session and its key.
        var key: [UInt8]?
    }

    private func connect(for request: PostgresStartup.Request, _ record: BrokeredRequest) async throws -> Server {
        let parameters: [PostgresParameter]
        do {
            parameters = try listener.login.parameters(for: request)
        } catch {
            throw Refusal(outcome: .refused, code: "28000", reason: error.reason)
        }
        if let until = listener.rule.until, until <= Date() {
            throw SecretsInUse.Refusal(reason: "the rule for \(listener.rule.variable) has ended")
        }
        let values = try await broker.secrets.letOut(
            [listener.number],
            for: BrokerRequest(
                isSecure: true, host: destination.host, port: destination.port, method: record.method ?? "",
                path: record.path ?? ""))
        guard let password = values[listener.number] else { throw Prelude.Ended() }
        // A person may have said yes after the program went away.
        guard program.channel.isActive else { throw Prelude.Ended() }
        let (handle, timer) = try await open()
        defer { timer.cancel() }
        do {
            try await handle.send(PostgresMessage.startup(parameters))
            return try await authenticate(handle, with: password)
        } catch {
            handle.channel.close(promise: nil)
            throw error
        }
    }

    /// Connects to the server over TLS, and verifies it.
    ///
    /// - Returns: The connection, and what closes it when it takes too long.
    private func open() async throws -> (handle: Prelude.Handle, timer: Scheduled<Void>) {
        let host = destination.host
        let address =
            if let address = destination.address { address } else { try await broker.addresses.address(of: host) }
        let bootstrap = ClientBootstrap(group: program.channel.eventLoop)
            .connectTimeout(.seconds(15))
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.socketOption(.so_keepalive), value: 1)
        let target = try SocketAddress(ipAddress: address, port: destination.port)
        let handle = try await bootstrap.connect(to: target) { channel in
            channel.eventLoop.makeCompletedFuture { try Prelude.add(to: channel) }
        }
        let server = handle.channel
        program.channel.closeFuture.whenComplete { _ in server.close(promise: nil) }
        let timer = server.eventLoop.scheduleTask(in: Self.patience) { server.close(promise: nil) }
        do {
            try await handle.send(PostgresMessage.tlsRequest)
            let answer = try await handle.next { $0.isEmpty ? nil : $0.removeFirst() }
            guard answer == UInt8(ascii: "S") else {
                throw PostgresProblem("the server does not speak TLS: the broker logs in over TLS alone")
            }
            let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
            try await handle.beginTLS(broker.tls(for: "postgresql"), host: isAddress ? nil : host)
            try await CertificateGuard.check(server, for: host).get()
            return (handle, timer)
        } catch {
            timer.cancel()
            server.close(promise: nil)
            throw error
        }
    }

    private func authenticate(_ handle: Prelude.Handle, with password: SecretBytes) async throws -> Server {
        var server = Server(handle: handle)
        var scram: ScramLogin?
        var expectation: ScramLogin.Expectation?
        // The server knows the password, or got it.
        var (isProven, isIn) = (false, false)
        // In bytes.
        var ignored = 0
        // The program could try passwords against it.
        var proof: SecretBytes?
        while true {
            let message = try await handle.next { try PostgresMessage.take(&$0) }
            switch Character(Unicode.Scalar(message.type)) {
            case "R":
                guard let step = message.authentication, !isIn else { throw Self.disorder }
                switch step {
                case .sasl(let mechanisms):
                    guard scram == nil else { throw Self.disorder }
                    let begun = try ScramLogin(
                        mechanisms, binding: try await EndPointBinding.hash(of: handle.channel))
                    scram = begun
                    try await handle.send(.saslBegin(begun.mechanism, begun.first))
                case .saslNext(let challenge):
                    guard let scram, expectation == nil else { throw Self.disorder }
                    let answer = try await Self.answer(scram, challenge, password)
                    expectation = answer.expectation
                    let last = answer.message.split(separator: UInt8(ascii: ",")).last ?? []
                    proof = try Array(last.dropFirst(2)).withUnsafeBytes { try SecretBytes(copying: $0) }
                    try await handle.send(.saslAnswer(answer.message))
                case .saslLast(let answer):
                    guard let expectation, !isProven else { throw Self.disorder }
                    try expectation.check(answer)
                    isProven = true
                case .password:
                    guard listener.login.sendsPassword else { throw Self.weaker("the password itself") }
                    guard scram == nil, !isProven else { throw Self.disorder }
                    isProven = true
                    try await handle.send(password.withUnsafeBytes { PostgresMessage("p", Array($0) + [0]) })
                case .ok:
                    // A server that asks for no password proves nothing: it may be another one than the rule means.
                    guard isProven else { throw Self.weaker("no password") }
                    isIn = true
                case .other(let way): throw Self.weaker(way)
                }
            case "S", "K", "N":
                // What comes before is not of the session.
                guard isIn else {
                    ignored += message.encoded.count
                    guard ignored <= Self.longestBeginning else { throw Self.disorder }
                    continue
                }
                if message.type == UInt8(ascii: "K") { server.key = message.body }
                server.beginning += message.encoded
                guard server.beginning.count <= Self.longestBeginning else { throw Self.disorder }
            case "v": guard !isIn else { throw Self.disorder }
            case "Z":
                guard isIn else { throw Self.disorder }
                server.beginning += message.encoded
                return server
            case "E":
                let failure = message.failure
                throw Refusal(
                    outcome: .failed, code: failure.code,
                    reason: "the server does not let the user in (\(failure.code))",
                    text: "the server says: \(try masked(failure.text, proof))")
            default: throw Self.disorder
            }
        }
    }

    private static let disorder = PostgresProblem("the server sends a message that has no place in a log-in")

    private static func weaker(_ way: String) -> PostgresProblem {
        PostgresProblem("the server wants \(way) and not SCRAM-SHA-256: the rule does not allow that")
    }

    /// The work is for a thread that nothing else waits for.
    private static func answer(
        _ scram: ScramLogin, _ challenge: [UInt8], _ password: SecretBytes
    ) async throws -> (message: [UInt8], expectation: ScramLogin.Expectation) {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Result { try scram.answer(challenge, with: password) })
            }
        }
    }

    private func masked(_ text: String, _ proof: SecretBytes?) throws -> String {
        var mask = try proof.map { try broker.secrets.mask(with: [$0]) } ?? broker.secrets.mask
        let bytes = Array(text.utf8).withUnsafeBytes { mask.take($0) } + mask.finish()
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: The end of a query

    /// Passes on that the query of a session is to end. Only keys of sessions that the broker opened go out.
    private func cancel(_ key: [UInt8]) async throws {
        defer { program.channel.close(promise: nil) }
        guard listener.isKnown(key) else { return }
        broker.strangers.remove(program.channel)
        let (handle, timer) = try await open()
        defer {
            timer.cancel()
            handle.channel.close(promise: nil)
        }
        try await handle.send(PostgresMessage.cancelRequest(key))
        // The server answers nothing, and closes the connection when the other session knows.
        _ = try? await handle.next { (_: inout [UInt8]) -> Bool? in nil }
    }
}
#endif
