import ArgumentParser
import Credentials
import Foundation
import FriendvatarsWeb
import Hummingbird
import Logging

/// What the app is measured against: the same page without sign-in, sessions, forms' tokens, a database and keys; and
/// hashes alone.
@main
struct BareServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "friendvatars-bare", abstract: "What Friendvatars is measured against.",
        subcommands: [Serve.self, Hash.self])
}

/// Serves one page, whose friends are in memory.
struct Serve: AsyncParsableCommand {
    @Option(help: "The port.")
    var port = 8080

    @Option(help: "How many friends the page shows.")
    var friends = 20

    func run() async throws {
        let page = try SamplePage(friends: friends)
        let router = Router()
        router.get("/friends") { _, _ in try page.render() }
        var logger = Logger(label: "bare")
        logger.logLevel = .warning
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)), logger: logger)
        try await application.runService()
    }
}

/// Says how many passwords a second the machine can check: no server can sign in more people.
struct Hash: AsyncParsableCommand {
    @Option(help: "For so many seconds.")
    var seconds = 10

    func run() async throws {
        let hasher = PasswordHasher()
        let password = try SignInPassword("violet otter climbs")
        let stored = try await hasher.hash(password)
        // Twice as many as there are processors, so that none of them waits for the next.
        let (clock, width) = (ContinuousClock(), 2 * ProcessInfo.processInfo.activeProcessorCount)
        let start = clock.now
        let end = start + .seconds(seconds)
        let count = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<width {
                group.addTask {
                    var count = 0
                    while clock.now < end {
                        guard try await hasher.verify(password, against: stored).isCorrect else { break }
                        count += 1
                    }
                    return count
                }
            }
            return try await group.reduce(0, +)
        }
        let time = (clock.now - start) / .seconds(1)
        print(String(format: "%.2f", Double(count) / time))
    }
}
