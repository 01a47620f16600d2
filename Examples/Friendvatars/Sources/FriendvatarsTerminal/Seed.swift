import ArgumentParser
import Credentials
import Foundation
import FriendvatarsKit

struct Seed: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make accounts with friends, to look at the app and to measure it.",
        discussion: """
            The accounts are user1@example.com and so on. All have the same password: the one that --password-fd gives, or one \
            that is made up and shown.

            Example: friendvatars-terminal seed --users 1000 --friends 20 --data load
            """)

    @Option(help: "How many accounts.") var users = 1_000
    @Option(help: "How many friends each has.") var friends = 20
    @Option(help: "How addresses begin; lower-case letters.") var prefix = "user"
    @Flag(help: "Hash passwords at next to no cost. Whoever gets the data can guess them; for measurements alone.")
    var cheapPasswords = false
    @Flag(help: "The summary as JSON.") var json = false
    @OptionGroup var password: PasswordInput
    @OptionGroup var options: DataOptions

    private struct Summary: Encodable {
        let users, friends: Int
        let password: String?
        let cheapPasswords: Bool
        let seconds: Double
        let usersPerSecond: Double
        /// Of making one account, and of one friend on a list, in milliseconds.
        let medianAccount, medianFriend: Double
    }

    private struct Times: Sendable {
        var account: Double
        var friends: [Double] = []
    }

    func validate() throws {
        guard (1...100_000).contains(users) else { throw ValidationError("--users is 1 to 100000.") }
        guard (0...FriendList.maximalCount).contains(friends) else {
            throw ValidationError("--friends is 0 to \(FriendList.maximalCount).")
        }
        guard !prefix.isEmpty, prefix.count <= 20, prefix.allSatisfy({ ("a"..."z").contains($0) }) else {
            throw ValidationError("--prefix is 1 to 20 lower-case letters.")
        }
    }

    func run() async throws {
        let made = password.passwordFd == nil
        let word = made ? SessionToken().text : try password.read()
        let hasher = PasswordHasher(cost: cheapPasswords ? .init(memoryKiB: 8, passes: 1) : PasswordHasher.standardCost)
        let begin = ContinuousClock.now
        let times = try await options.withApp(isMade: true, hasher: hasher) { app, _ in try await make(app, word) }
        let seconds = (ContinuousClock.now - begin) / .seconds(1)
        let summary = Summary(
            users: times.count, friends: friends, password: made ? word : nil, cheapPasswords: cheapPasswords,
            seconds: seconds,
            usersPerSecond: Double(times.count) / seconds, medianAccount: Self.median(times.map(\.account)),
            medianFriend: Self.median(times.flatMap(\.friends)))
        if json {
            print(try encoded(summary))
        } else {
            print(
                "\(users) accounts, \(prefix)1@example.com to \(prefix)\(users)@example.com, with \(friends) friends each"
            )
            print(
                String(
                    format: "%.1f s; median %.1f ms for an account, %.2f ms for a friend", seconds,
                    summary.medianAccount,
                    summary.medianFriend))
            if made { print("Their password: \(word)") }
        }
    }

    /// As many accounts at a time as there are processors: a password takes one of them.
    private func make(_ app: FriendvatarsApp, _ word: String) async throws -> [Times] {
        let progress = Progress(of: users)
        return try await withThrowingTaskGroup(of: Times.self) { group in
            var (times, next) = ([Times](), 1)
            while next <= min(users, ProcessInfo.processInfo.activeProcessorCount) {
                group.addTask { [next] in try await make(next, app, word) }
                next += 1
            }
            while let one = try await group.next() {
                times.append(one)
                progress.show(times.count)
                guard next <= users else { continue }
                group.addTask { [next] in try await make(next, app, word) }
                next += 1
            }
            progress.end()
            return times
        }
    }

    private func make(_ number: Int, _ app: FriendvatarsApp, _ word: String) async throws -> Times {
        let begin = ContinuousClock.now
        let account = try await app.accounts.signUp(
            email: "\(prefix)\(number)@example.com", name: Self.name(number), password: word)
        var times = Times(account: (ContinuousClock.now - begin) / .milliseconds(1))
        for step in 0..<friends {
            // The next ones in a circle, so that everybody is on as many lists as they have friends.
            let friend = (number + step) % max(users, friends + 1) + 1
            let begin = ContinuousClock.now
            try await app.friends.add(
                email: "\(prefix)\(friend)@example.com", name: Self.name(friend), to: account.id)
            times.friends.append((ContinuousClock.now - begin) / .milliseconds(1))
        }
        return times
    }

    private static func name(_ number: Int) -> String {
        let first = [
            "Ada", "Bob", "Cleo", "Dan", "Eve", "Fay", "Gus", "Hana", "Ian", "Joy", "Kai", "Lea", "Max", "Nia", "Oto",
            "Zoe",
        ]
        let last = [
            "Adler", "Berg", "Castro", "Diaz", "Engel", "Falk", "Gomez", "Hahn", "Ito", "Jung", "Klein", "Lind", "Mori",
        ]
        return "\(first[number % first.count]) \(last[number / first.count % last.count])"
    }

    private static func median(_ values: [Double]) -> Double {
        values.isEmpty ? 0 : values.sorted()[values.count / 2]
    }

    /// How far it is, on a terminal.
    private struct Progress {
        let count: Int
        let isShown = isatty(STDERR_FILENO) == 1

        init(of count: Int) { self.count = count }

        func show(_ done: Int) {
            guard isShown, done % 10 == 0 else { return }
            FileHandle.standardError.write(Data("\r\(done) of \(count)".utf8))
        }

        func end() {
            // "Erase in line" of ECMA-48, section 8.3.41.
            if isShown { FileHandle.standardError.write(Data("\r\u{1B}[K".utf8)) }
        }
    }
}
