import Foundation
import Hummingbird
import Logging
import Synchronization
import Testing

/// A service of pictures, as Gravatar is one: at `/avatar/HASH`, PNG files for those that it knows, and 404 for the
/// others.
final class AvatarStub: Sendable {
    /// What it does when it is asked.
    enum Mood: Sendable, CaseIterable {
        case normal, broken, huge, script, redirecting
        /// Says nothing until it has another mood.
        case waiting
    }

    let port: Int
    private let answers = Answers()
    private let task: Task<Void, any Error>

    init() async throws {
        let (ports, running) = AsyncStream.makeStream(of: Int.self)
        let router = Router()
        let answers = answers
        router.get("/avatar/:hash") { _, context in try await answers.answer(context.parameters.get("hash") ?? "") }
        var logger = Logger(label: "avatars")
        logger.logLevel = .critical
        let app = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { running.yield($0.localAddress?.port ?? 0) }, logger: logger)
        task = Task { try await app.runService(gracefulShutdownSignals: []) }
        port = await ports.first { _ in true } ?? 0
    }

    deinit { task.cancel() }

    var address: String { "http://127.0.0.1:\(port)/avatar/{hash}?d=404" }

    /// The hashes that it was asked for.
    var questions: [String] { answers.state.withLock { $0.questions } }

    /// Waits until it was asked so often.
    func hasQuestions(_ count: Int) async throws {
        try await waitUntil("nobody asks for pictures") { questions.count >= count }
    }

    var mood: Mood {
        get { answers.state.withLock { $0.mood } }
        set { answers.state.withLock { $0.mood = newValue } }
    }

    func setPicture(_ picture: Data, for hash: String) {
        answers.state.withLock { $0.pictures[hash] = picture }
    }

    private final class Answers: Sendable {
        struct State {
            var pictures: [String: Data] = [:]
            var questions: [String] = []
            var mood = Mood.normal
        }

        let state = Mutex(State())

        func answer(_ hash: String) async throws -> Response {
            state.withLock { $0.questions.append(hash) }
            while state.withLock({ $0.mood }) == .waiting { try await Task.sleep(for: .milliseconds(5)) }
            let (mood, picture) = state.withLock { ($0.mood, $0.pictures[hash]) }
            switch mood {
            case .waiting: return Response(status: .internalServerError)
            case .normal: return picture.map(Self.response) ?? Response(status: .notFound)
            case .broken: return Response(status: .internalServerError)
            case .huge: return Self.response(Pictures.red + Data(count: 1 << 20))
            case .script:
                return Self.response(Data("<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>".utf8))
            case .redirecting: return Response(status: .found, headers: [.location: "http://127.0.0.1:1/"])
            }
        }

        private static func response(_ bytes: Data) -> Response {
            Response(
                status: .ok, headers: [.contentType: "image/png"], body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
        }
    }
}
