import ProcessVault
import VaultInterface

/// Whether files of class `complete` can be used, and notice of when that changes: what `UIApplication` tells on iOS.
///
/// ```swift
/// for await event in try ProtectedData.events() {
///     if event == .didBecomeAvailable { try upload() }
/// }
/// ```
public enum ProtectedData {
    /// What happens to files that are open only while the vault is unlocked.
    public enum Event: Sendable, Hashable, CaseIterable {
        /// They can be used.
        case didBecomeAvailable
        /// They are about to be closed: at once, or after the grace that the lock was asked for with. An unlock in the
        /// meantime calls it off; then ``didBecomeAvailable`` follows.
        case willBecomeUnavailable
        /// They are closed.
        case didBecomeUnavailable
    }

    /// Whether files of class `complete` can be used now; false also where the vault cannot be asked.
    public static var isProtectedDataAvailable: Bool {
        guard let session = try? VaultSession.current() else { return false }
        return (try? session.perform(ReadStatus()))?.lockState == .unlocked
    }

    /// What happens from now on, beginning with how it is now: ``Event/didBecomeAvailable`` or
    /// ``Event/didBecomeUnavailable``.
    ///
    /// With a vault in the process this is the process's own lock; with a daemon it is the one that all programs share.
    /// The daemon's end is a lock, too, since its keys go with it. A consumer that falls far behind misses older
    /// events, never the last ones. The sequence is for one consumer and ends when its task is canceled.
    ///
    /// - Throws: ``ProtectedFileError/Code/unusableVault`` and the like when there is no vault to observe.
    public static func events() throws -> Events {
        Events(stream: try VaultSession.currentForFiles().vault.lockEvents())
    }

    /// The events, from ``ProtectedData/events()``.
    public struct Events: AsyncSequence, Sendable {
        public typealias Element = Event
        public typealias Failure = Never

        let stream: AsyncStream<LockEvent>

        /// The iterator; a sequence is for one of them.
        public func makeAsyncIterator() -> Iterator { Iterator(base: stream.makeAsyncIterator()) }

        /// Waits for events.
        public struct Iterator: AsyncIteratorProtocol {
            var base: AsyncStream<LockEvent>.Iterator

            /// The next event, or nil when the task was canceled.
            public mutating func next(isolation actor: isolated (any Actor)?) async -> Event? {
                await base.next(isolation: actor).map { Event($0) }
            }

            /// The next event, or nil when the task was canceled.
            public mutating func next() async -> Event? { await next(isolation: nil) }
        }
    }
}

extension ProtectedData.Event {
    fileprivate init(_ event: LockEvent) {
        self =
            switch event {
            case .unlocked: .didBecomeAvailable
            case .willLock: .willBecomeUnavailable
            case .locked: .didBecomeUnavailable
            }
    }
}
