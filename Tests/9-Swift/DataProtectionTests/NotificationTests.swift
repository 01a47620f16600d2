import DataProtection
import Foundation
import KeychainTesting
import TestSupport
import Testing

/// Notice of when protected data can be used.
@Suite(.serialized) struct NotificationTests {
    @Test func eventsInThisProcess() async throws {
        let world = try TestKeychain()
        try await world.run {
            #expect(ProtectedData.isProtectedDataAvailable)
            var events = try ProtectedData.events().makeAsyncIterator()
            #expect(await events.next() == .didBecomeAvailable)
            world.lock()
            #expect(!ProtectedData.isProtectedDataAvailable)
            #expect(await events.next() == .willBecomeUnavailable)
            #expect(await events.next() == .didBecomeUnavailable)
            world.unlock()
            #expect(await events.next() == .didBecomeAvailable)
            #expect(ProtectedData.isProtectedDataAvailable)
        }
    }

    @Test func notifications() async throws {
        #expect(
            Notification.Name.protectedDataDidBecomeAvailable.rawValue == "UIApplicationProtectedDataDidBecomeAvailable"
        )
        let world = try TestKeychain()
        let center = NotificationCenter()
        let (posted, post) = AsyncStream<String>.makeStream()
        var observers: [any NSObjectProtocol] = []
        for (name, word) in [
            (Notification.Name.protectedDataDidBecomeAvailable, "available"),
            (.protectedDataWillBecomeUnavailable, "unavailable"),
        ] {
            observers.append(center.addObserver(forName: name, object: nil, queue: nil) { _ in post.yield(word) })
        }
        defer { for observer in observers { center.removeObserver(observer) } }
        try await world.run {
            try ProtectedData.startNotifications(in: center)
            // Once more is as once.
            try ProtectedData.startNotifications(in: center)
            var words = posted.makeAsyncIterator()
            for _ in 0..<2 {
                world.lock()
                #expect(await words.next() == "unavailable")
                world.unlock()
                #expect(await words.next() == "available")
            }
            ProtectedData.stopNotifications()
            world.lock()
            world.unlock()
            try ProtectedData.startNotifications(in: center)
            world.lock()
            #expect(await words.next() == "unavailable")
            ProtectedData.stopNotifications()
            post.finish()
            #expect(await words.next() == nil)
        }
    }

    @Test func aGraceThatIsCalledOff() async throws {
        let world = try DaemonWorld()
        let center = NotificationCenter()
        let (posted, post) = AsyncStream<String>.makeStream()
        var observers: [any NSObjectProtocol] = []
        for (name, word) in [
            (Notification.Name.protectedDataDidBecomeAvailable, "available"),
            (.protectedDataWillBecomeUnavailable, "unavailable"),
        ] {
            observers.append(center.addObserver(forName: name, object: nil, queue: nil) { _ in post.yield(word) })
        }
        defer { for observer in observers { center.removeObserver(observer) } }
        try await world.run {
            try ProtectedData.startNotifications(in: center)
            defer { ProtectedData.stopNotifications() }
            // Told of the present state before anything changes: otherwise that is what the start is.
            var events = try ProtectedData.events().makeAsyncIterator()
            #expect(await events.next() == .didBecomeAvailable)
            var words = posted.makeAsyncIterator()
            try world.lock(after: .seconds(3600))
            #expect(await words.next() == "unavailable")
            try world.unlock()
            #expect(await words.next() == "available")
            // The daemon's end, of which there is no notice.
            try world.restart()
            #expect(await words.next() == "unavailable")
        }
    }
}
