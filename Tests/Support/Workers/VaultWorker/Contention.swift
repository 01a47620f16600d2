import Access
import Foundation
import KeychainModel
import Synchronization
import TestSupport
import Vault
import VaultInterface

/// Jobs of many processes at once on one folder.
extension VaultWorker {
    /// Opens the vault at the same moment as others and leaves an item in it.
    static func join(_ path: String, name: String) throws {
        waitForCue()
        let vault = try EmbeddedVault.open(at: path)
        _ = try vault.add(.password("joined", name, name), as: .app)
        report("joined")
    }

    /// Opens and closes the vault again and again, with a write in between.
    static func churn(_ path: String, rounds: Int) throws {
        waitForCue()
        for round in 0..<rounds {
            let vault = try EmbeddedVault.open(at: path)
            _ = try vault.put(.password("churn", "\(getpid())", "\(round)"), as: .app)
        }
        report("done")
    }

    /// Adds, updates, renames, finds and deletes items of its own, competes for others, and counts.
    ///
    /// Prints `won ACCOUNT THREAD` for each competition won, `increments COUNTER N`, then `done`.
    static func contend(_ path: String, _ numbers: [Int]) throws {
        let plan = ContentionPlan(
            processes: numbers[0], threads: numbers[1], itemsPerThread: numbers[2], counters: numbers[3])
        let process = numbers[4]
        waitForCue()
        let vault = try EmbeddedVault.open(at: path)
        let group = DispatchGroup()
        let failure = Mutex<String?>(nil)
        for number in 0..<plan.threads {
            group.enter()
            Thread.detachNewThread {
                defer { group.leave() }
                do {
                    try Contender(vault: vault, plan: plan, process: process, thread: number).run()
                } catch {
                    failure.withLock { $0 = "thread \(number): \(error)" }
                }
            }
        }
        group.wait()
        if let failure = failure.withLock({ $0 }) {
            report("error \(failure)")
            exit(1)
        }
        report("done")
    }
}

private struct Contender {
    let vault: EmbeddedVault
    let plan: ContentionPlan
    let process: Int
    let thread: Int

    struct Wrong: Error {
        var what: String
    }

    func run() throws {
        let service = plan.service(process: process, thread: thread)
        var increments = [Int](repeating: 0, count: plan.counters)
        for number in 0..<plan.itemsPerThread {
            let account = "\(number)"
            _ = try vault.add(.password(service, account, "first \(number)"), as: .app)
            switch number % 5 {
            case 0:
                guard try vault.delete(.password(service, account, limit: nil), as: .app) == 1 else {
                    throw Wrong(what: "deleted not one")
                }
                guard try vault.items(.password(service, account)).isEmpty else {
                    throw Wrong(what: "found a deleted item")
                }
            case 1:
                _ = try vault.update(
                    .password(service, account, limit: nil),
                    with: ItemChanges(value: Data("second \(number)".utf8)), as: .app)
            case 2:
                _ = try vault.update(
                    .password(service, account, limit: nil),
                    with: ItemChanges(attributes: [.account: .string("renamed \(number)")]), as: .app)
            default:
                let found = try vault.copy(.password(service, account), includingValues: true, as: .app)
                guard found.map(\.value) == [Data("first \(number)".utf8)] else { throw Wrong(what: "wrong value") }
            }
            if number % 8 == 0 { try compete(number) }
            if number % 4 == 0 {
                let counter = number / 4 % plan.counters
                try increment(counter)
                increments[counter] += 1
            }
        }
        for (counter, count) in increments.enumerated() { VaultWorker.report("increments \(counter) \(count)") }
    }

    /// All threads of all processes try to add this item; one of them may.
    private func compete(_ number: Int) throws {
        do {
            _ = try vault.add(.password(ContentionPlan.contested, "\(number)", "\(process) \(thread)"), as: .app)
        } catch {
            guard error == .duplicateItem else { throw error }
            return
        }
        VaultWorker.report("won \(number) \(process) \(thread)")
    }

    private func increment(_ counter: Int) throws {
        while true {
            let name = "counter \(counter)"
            let present = try vault.items(.password(name, name)).first?.value
            let count = present.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
            if try vault.exchange(.password(name, name, "\(count + 1)"), expecting: present, as: .app) { return }
        }
    }
}
