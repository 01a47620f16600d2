import Access
import Bytes
import Connections
import DaemonLink
import Foundation
import Frames
import Glibc
import KeychainModel
import Synchronization
import TestSupport
import VaultInterface
import VaultService

/// A program that uses a daemon's vault: `remote SOCKET VERB [WORD…]`. Says what came of it in one line.
extension VaultWorker {
    static func remote(_ socket: String, _ words: [String]) {
        do {
            report(try outcome(socket, words))
        } catch let error as VaultError {
            report("\(Mirror(reflecting: error).children.first?.label ?? "") \(error)")
        } catch {
            report("failed \(error)")
        }
    }

    private static func outcome(_ socket: String, _ words: [String]) throws -> String {
        func word(_ index: Int) -> String { index < words.count ? words[index] : "" }
        if word(0) == "as" {
            guard let user = uid_t(word(1)), setgid(user) == 0, setuid(user) == 0 else { return "failed setuid" }
            return try outcome(socket, Array(words.dropFirst(2)))
        }
        if word(0) == "exec" { return try execute(word(1), connectedTo: socket) }
        if word(0) == "inherit" { return try call(on: Int32(word(1)) ?? -1) }
        if word(0) == "later" {
            waitForCue()
            return try outcome(socket, Array(words.dropFirst()))
        }
        let vault = try RemoteVault(socket: socket)
        let client = vault.granted
        let query = ItemQuery(
            itemClass: .genericPassword, attributes: [.service: .string("s"), .account: .string("a")])
        switch word(0) {
        case "groups": return client.accessGroups.joined(separator: ",")
        case "put":
            let item = NewItem(
                itemClass: .genericPassword, attributes: [.service: .string("s"), .account: .string("a")],
                accessGroup: words.count > 2 ? word(2) : nil, value: Data(word(1).utf8))
            return "stored in \(try vault.put(item, as: client).accessGroup)"
        case "get":
            var query = query
            if words.count > 1 { query.accessGroup = word(1) }
            let found = try vault.copy(query, includingValues: true, as: client)
            return found.map { String(decoding: $0.value ?? Data(), as: UTF8.self) }.joined(separator: ",")
        case "list":
            var query = ItemQuery(itemClass: .genericPassword)
            if words.count > 1 { query.accessGroup = word(1) }
            return "\(try vault.copy(query, includingValues: false, as: client).count) items"
        case "update": return "\(try vault.update(query, with: ItemChanges(value: Data([1])), as: client)) updated"
        case "delete": return "\(try vault.delete(query, as: client)) deleted"
        case "count": return "\(try vault.status(as: client).itemCounts[.genericPassword] ?? 0) items"
        case "status":
            let status = try vault.status(as: client)
            return "vault \(status.path ?? "nil"), \(status.failedAttempts) wrong, wait \(status.retryAfter)"
        case "erase":
            try vault.erase(as: client)
            return "erased"
        case "put-large":
            let item = NewItem(
                itemClass: .genericPassword, attributes: [.service: .string("large"), .account: .string("a")],
                value: Data(repeating: 7, count: (Int(word(1)) ?? 0) << 20))
            return "stored in \(try vault.put(item, as: client).accessGroup)"
        case "guess":
            return try guess(word(1), times: Int(word(2)) ?? 1, socket)
        case "hold":
            // Connected until the test says go on.
            _ = try vault.status(as: client)
            report("holding")
            _ = readLine()
            return try outcome(on: vault)
        default: return "failed: unknown verb"
        }
    }

    /// Has itself asked for the passcode so many times, and answers always the same.
    private static func guess(_ passcode: String, times: Int, _ socket: String) throws -> String {
        let prompt = StubbornPrompt(passcode)
        let vault = try RemoteVault(socket: socket, prompt: prompt)
        var last = ""
        for _ in 0..<times {
            do throws(VaultError) {
                _ = try vault.authenticate(.devicePasscode, context: UUID(), options: .init(), as: vault.granted)
                last = "authenticated"
            } catch {
                last = "\(Mirror(reflecting: error).children.first?.label ?? "refused:") \(error)"
            }
        }
        return "\(prompt.answers.withLock { $0 }) answers, \(last)"
    }

    private final class StubbornPrompt: PasscodePrompt {
        let answers = Mutex(0)
        private let passcode: [UInt8]
        var isAvailable: Bool { true }

        init(_ passcode: String) { self.passcode = Array(passcode.utf8) }

        func ask(_ question: PasscodeQuestion, until deadline: ContinuousClock.Instant) -> PasscodeAnswer {
            answers.withLock { $0 += 1 }
            let secret = passcode.withUnsafeBytes { try? SecretBytes(copying: $0) }
            return secret.map(PasscodeAnswer.passcode) ?? .canceled
        }
    }

    private static func outcome(on vault: RemoteVault) throws -> String {
        "still \(try vault.describeCaller().accessGroups.joined(separator: ","))"
    }

    /// Connects, and becomes another program that has the connection.
    private static func execute(_ program: String, connectedTo socket: String) throws -> String {
        let descriptor = try UnixSocket.connect(to: socket)
        let connection = FrameSocket(descriptor, ownsDescriptor: false)
        let frame = FrameBuffer()
        frame.appendFrame(.hello) { Hello().encode(to: frame) }
        try connection.send(frame, within: Patience.duration)
        let kind = try connection.receive(
            into: frame, limit: 1 << 16, first: Patience.duration, rest: Patience.duration)
        guard kind == .welcome else { return "failed: not welcome" }
        _ = fcntl(descriptor, F_SETFD, 0)
        let arguments = [program, "remote", socket, "inherit", "\(descriptor)"]
        var pointers = arguments.map { strdup($0) } + [nil]
        execv(program, &pointers)
        return "failed: \(errno)"
    }

    private static func call(on descriptor: Int32) throws -> String {
        let connection = FrameSocket(descriptor)
        let frame = FrameBuffer()
        frame.appendRequest(
            DescribeCaller(), claim: Client(identifier: "x", accessGroups: []), canAsk: false)
        try connection.send(frame, within: Patience.duration)
        let kind = try connection.receive(
            into: frame, limit: 1 << 16, first: Patience.duration, rest: Patience.duration)
        var reader = FrameReader(frame, from: 1)
        if kind == .failure { throw try reader.read(VaultError.self) }
        return "answered"
    }
}
