import Foundation
import Glibc
import TestSupport
import Vault
import VaultService

/// What tests run as another process. Reports on standard output; each job is described where it is.
@main struct VaultWorker {
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count >= 2 else { exit(64) }
        let path = arguments[1]
        let numbers = arguments.dropFirst(2).compactMap(UInt64.init)
        do {
            switch arguments[0] {
            case "join": try join(path, name: arguments[2])
            case "contend": try contend(path, numbers.map(Int.init))
            case "churn": try churn(path, rounds: Int(numbers[0]))
            case "write": try write(path, seed: numbers[0])
            case "write-threads": try write(path, seed: numbers[0], threads: Int(numbers[1]))
            case "create": try create(path)
            case "erase": try erase(path)
            case "renew": try renew(path)
            case "forget": try forget(EmbeddedVault.open(at: path))
            case "forget-remote": try forget(RemoteVault(socket: path))
            case "passcode": try changePasscodes(path, seed: numbers[0])
            case "fill": try fill(path)
            case "fill-limited": try fillLimited(path, bytes: numbers[0])
            case "reopen": try reopen(path)
            case "reopen-limited": try reopenLimited(path, bytes: numbers[0])
            case "create-with-umask": try create(path, umask: UInt32(numbers[0]))
            case "open-as": try open(path, as: UInt32(numbers[0]))
            case "audit": try audit(path, count: Int(numbers[0]))
            case "audit-daemon": try auditDaemon(path, round: numbers[0])
            case "audit-unlocks": try auditUnlocks(path, count: Int(numbers[0]), pause: Int(numbers[1]))
            case "audit-limited": try auditLimited(path, bytes: numbers[0])
            case "fixture": try writeFixture(path)
            case "fixture-guarded": try writeGuardedFixture(path)
            case "fixture-renewed": try writeRenewedFixture(path)
            case "fixture-backup": try writeFixtureBackup(path, to: arguments[2])
            case "front": tryAsFront()
            case "remote": remote(path, Array(arguments.dropFirst(2)))
            default: exit(64)
            }
        } catch {
            report("error \(error)")
            exit(1)
        }
    }

    /// Prints a line at once.
    static func report(_ line: String) {
        emit(line + "\n")
    }

    static func emit(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(1, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { exit(65) }
            rest = rest.dropFirst(count)
        }
    }

    /// Says that this process is ready, and waits until the test gives the cue.
    static func waitForCue(saying line: String? = "ready") {
        if let line { report(line) }
        _ = readLine()
    }
}
