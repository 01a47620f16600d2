import Foundation
import Glibc
import LockSignals
import SystemBus
import Testing

/// Against a real dbus-daemon and a stand-in for logind.
@Suite(.timeLimit(.minutes(10))) struct LockSignalsTests {
    @Test func sessionsOfTheUserCount() async throws {
        let bus = try SessionBus()
        let session = try bus.addSession("c1", user: getuid())
        let other = try bus.addSession("c2", user: getuid() + 1)
        let (signals, _) = try await bus.listen()
        var heard = signals.makeAsyncIterator()
        try bus.call(other, "Lock")
        try bus.call(session, "Lock")
        #expect(await heard.next() == .lock)
        try bus.call(session, "Unlock")
        #expect(await heard.next() == .unlock)
        // As GNOME says it.
        try bus.call(session, "SetLockedHint", [.boolean(true)])
        #expect(await heard.next() == .lock)
        try bus.call(session, "SetLockedHint", [.boolean(false)])
        #expect(await heard.next() == .unlock)
        try bus.emit("SessionRemoved", "so", "'c2', '\(other)'")
        try bus.emit("SessionRemoved", "so", "'c1', '\(session)'")
        #expect(await heard.next() == .sessionEnded(left: 0))
    }

    @Test func newSessionsCountToo() async throws {
        let bus = try SessionBus()
        let (signals, _) = try await bus.listen()
        var heard = signals.makeAsyncIterator()
        let session = try bus.addSession("c7", user: getuid())
        try bus.emit("SessionNew", "so", "'c7', '\(session)'")
        try bus.call(session, "Lock")
        #expect(await heard.next() == .lock)
    }

    @Test func sleepWaitsUntilTheVaultIsLocked() async throws {
        let bus = try SessionBus()
        let (signals, listener) = try await bus.listen()
        var heard = signals.makeAsyncIterator()
        #expect(try bus.inhibitors() == 1)
        try bus.emit("PrepareForSleep", "b", "True")
        #expect(await heard.next() == .sleep)
        listener.readyToSleep()
        try await bus.awaitInhibitors(0)
        try bus.emit("PrepareForSleep", "b", "False")
        #expect(await heard.next() == .wake)
        try await bus.awaitInhibitors(1)
    }

    @Test func lostBusIsFoundAgain() async throws {
        let bus = try SessionBus()
        let (signals, listener) = try await bus.listen()
        var heard = signals.makeAsyncIterator()
        bus.bus.stop()
        guard case .notListening? = await bus.nextReport() else {
            Issue.record("the loss of the bus was not reported")
            return
        }
        try bus.bus.restart()
        try bus.startSessionKeeper()
        while await bus.nextReport() != .listening {}
        let session = try bus.addSession("c1", user: getuid())
        try bus.emit("SessionNew", "so", "'c1', '\(session)'")
        try bus.call(session, "Lock")
        #expect(await heard.next() == .lock)
        withExtendedLifetime(listener) {}
    }

    /// A session that is locked already when the listening begins.
    @Test func lockedSessionIsNoticedAtTheStart() async throws {
        let bus = try SessionBus()
        let session = try bus.addSession("c1", user: getuid())
        try bus.call(session, "SetLockedHint", [.boolean(true)])
        let (signals, _) = try await bus.listen()
        var heard = signals.makeAsyncIterator()
        #expect(await heard.next() == .lock)
    }

    @Test func givenUpStreamEnds() async throws {
        let bus = try SessionBus()
        let (signals, _) = try await bus.listen()
        let task = Task { for await _ in signals {} }
        task.cancel()
        await task.value
        // Its thread ends too, and with it what kept the machine from sleeping.
        try await bus.awaitInhibitors(0)
    }
}
