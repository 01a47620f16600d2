import DataProtection
import Foundation
import TestSupport
import Testing

/// Files and the lock that all programs share.
@Suite(.timeLimit(.minutes(60))) struct DaemonTests {
    private func outcome(of program: Worker) -> String? {
        program.cue()
        return program.readLine()
    }

    /// What the program says once it says something else than `former`: it hears of a lock a moment later.
    private func outcome(of program: Worker, after former: String) throws -> String? {
        var said: String?
        try eventually("the program says something else than \(former)") {
            said = outcome(of: program)
            return said != former
        }
        return said
    }

    @Test func handlesInAnotherProcess() throws {
        let world = try DaemonWorld()
        let (complete, open) = (world.folder.path(of: "complete"), world.folder.path(of: "open"))
        try world.run {
            try ProtectedFile(path: complete).write(Data("data".utf8), options: .completeFileProtection)
            try ProtectedFile(path: open).write(Data("data".utf8), options: .completeFileProtectionUnlessOpen)
        }
        let (first, second) = (try world.program("hold", complete), try world.program("hold", open))
        #expect(first.readLine() == "open")
        #expect(second.readLine() == "open")
        #expect(outcome(of: first) == "ok ok ok")
        #expect(outcome(of: second) == "ok ok ok")
        try world.lock()
        // What cannot be opened any more tells that the daemon has locked; the handle follows.
        #expect(try outcome(of: second, after: "ok ok ok") == "ok ok locked")
        _ = try outcome(of: first, after: "ok ok locked")
        #expect(outcome(of: first) == "locked locked locked")
        try world.unlock()
        #expect(outcome(of: first) == "locked locked ok")
        #expect(outcome(of: second) == "ok ok ok")
        // With the daemon go its keys.
        let third = try world.program("hold", complete)
        #expect(third.readLine() == "open")
        #expect(outcome(of: third) == "ok ok ok")
        try world.restart()
        _ = try outcome(of: third, after: "ok ok ok")
        _ = try outcome(of: third, after: "ok ok locked")
        #expect(outcome(of: third) == "locked locked locked")
    }

    @Test func events() throws {
        let world = try DaemonWorld()
        let program = try world.program("events")
        func next() -> String? { program.readLine() }
        #expect(next() == "didBecomeAvailable true")
        try world.lock(after: .seconds(3600))
        #expect(next() == "willBecomeUnavailable true")
        try world.unlock()
        #expect(next() == "didBecomeAvailable true")
        try world.lock()
        #expect(next()?.hasPrefix("willBecomeUnavailable") == true)
        #expect(next() == "didBecomeUnavailable false")
        try world.unlock()
        #expect(next() == "didBecomeAvailable true")
    }

    @Test func aHandleThatIsOpenedAfterAnUnlockIsNotClosedByTheLockBefore() throws {
        let world = try DaemonWorld()
        try world.run {
            let file = ProtectedFile(path: world.folder.path(of: "file"))
            try file.write(Data("data".utf8), options: .completeFileProtection)
            let first = try ProtectedFileHandle(forReadingFrom: file.url)
            for _ in 0..<20 {
                try world.lock()
                try world.unlock()
                let handle = try ProtectedFileHandle(forReadingFrom: file.url)
                for _ in 0..<20 { #expect(try handle.read(upToCount: 4, at: 0) == Data("data".utf8)) }
            }
            first.close()
        }
    }
}
