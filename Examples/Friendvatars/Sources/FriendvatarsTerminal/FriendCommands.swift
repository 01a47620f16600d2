import ArgumentParser
import Foundation
import FriendvatarsKit

struct Friends: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show your friends, each with a pattern of their own.",
        discussion: """
            Without a terminal, or with NO_COLOR, there is a line for each: name, tab, address.

            Example: friendvatars-terminal friends --json
            """)

    @Flag(help: "As JSON.") var json = false
    @OptionGroup var options: DataOptions

    private struct Listed: Encodable {
        let name, address: String
    }

    func run() async throws {
        let list = try await options.withMember { app, _, account in try await app.friends.contents(of: account.id) }
        let friends = list.friends
        if !list.damaged.isEmpty {
            let note = "\(list.damaged.count) more on your list cannot be read: changed on the disk.\n"
            try FileHandle.standardError.write(contentsOf: Data(note.utf8))
        }
        if json {
            print(try encoded(friends.map { Listed(name: $0.name, address: $0.email.text) }))
            return
        }
        let depth = ColorDepth.ofOutput
        for friend in friends {
            let (name, address) = (printable(friend.name), printable(friend.email.text))
            if depth == .none {
                print("\(name)\t\(address)")
            } else {
                let beside = [name, address, ""]
                for (pattern, text) in zip(GeneratedPattern(of: friend.email).lines(depth), beside) {
                    print("  \(pattern)   \(text)")
                }
                print()
            }
        }
        if friends.isEmpty, list.damaged.isEmpty, isatty(STDOUT_FILENO) == 1 {
            print("No friends yet; add one with: friendvatars-terminal add NAME ADDRESS")
        }
    }
}

struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Put somebody on your list.", discussion: "Example: friendvatars-terminal add Zoe zoe@example.com")

    @Argument(help: "The friend's name.") var name: String
    @Argument(help: "The friend's e-mail address.") var address: String
    @OptionGroup var options: DataOptions

    func run() async throws {
        try await options.withMember { app, _, account in
            let friend = try await app.friends.add(email: address, name: name, to: account.id)
            print("\(printable(friend.name)) is on your list.")
        }
    }
}

struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Take somebody off your list.", discussion: "Example: friendvatars-terminal remove Zoe")

    @Argument(help: "The friend's name or e-mail address.") var friend: String
    @OptionGroup var options: DataOptions

    func run() async throws {
        try await options.withMember { app, _, account in
            let found = try await app.friend(called: friend, of: account)
            try await app.removeFriend(found.id, of: account.id)
            print("\(printable(found.name)) is no longer on your list.")
        }
    }
}

struct Picture: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "avatar", abstract: "Write a friend's picture to a file.",
        discussion: """
            It is the one that the server has fetched, or the generated pattern as SVG; nobody on the network is asked. A new file \
            is for its owner alone.

            Example: friendvatars-terminal avatar Zoe --output zoe.svg
            """)

    @Argument(help: "The friend's name or e-mail address.") var friend: String
    @Option(help: ArgumentHelp("Where to; '-' for the standard output.", valueName: "file")) var output: String
    @OptionGroup var options: DataOptions

    func run() async throws {
        let avatar = try await options.withMember { app, _, account in
            try await app.avatar(of: try await app.friend(called: friend, of: account).id, for: account.id)
        }
        guard let avatar else { throw TerminalFailure("The friend is no longer on your list.") }
        if output == "-" {
            try FileHandle.standardOutput.write(contentsOf: avatar.bytes)
        } else {
            try Self.write(avatar.bytes, to: output)
            print("\(printable(output)): \(avatar.kind.rawValue), \(avatar.bytes.count) bytes")
        }
    }
}

extension Picture {
    /// Into what is there, whatever it is, or a new file.
    private static func write(_ bytes: Data, to path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0o600)
        guard descriptor >= 0 else {
            throw TerminalFailure("\(printable(path)) cannot be written: \(String(cString: strerror(errno)))")
        }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try file.write(contentsOf: bytes)
            try file.close()
        } catch {
            throw TerminalFailure("\(printable(path)) cannot be written: \(error.localizedDescription)")
        }
    }
}

extension FriendvatarsApp {
    /// The friend with a name or an address.
    fileprivate func friend(called text: String, of account: Account) async throws -> Friend {
        let all = try await friends.friends(of: account.id)
        let email = EmailAddress(text)
        if let found = all.first(where: { $0.email == email }) { return found }
        let named = all.filter { $0.name.lowercased() == text.lowercased() }
        if named.count > 1 { throw TerminalFailure("There are \(named.count) friends of that name; give the address.") }
        guard let found = named.first else { throw TerminalFailure("There is no such friend on your list.") }
        return found
    }
}
