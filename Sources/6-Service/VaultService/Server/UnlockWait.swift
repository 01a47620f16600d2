import Synchronization
import VaultInterface

/// Calls those who wait for the unlock without a thread: units, and the Secret Service.
package final class UnlockWait: Sendable {
    /// Somebody who waits, until the last reference goes.
    package final class Place: Sendable {
        private let wait: UnlockWait
        fileprivate let tell: @Sendable () -> Void

        fileprivate init(_ wait: UnlockWait, _ tell: @escaping @Sendable () -> Void) {
            (self.wait, self.tell) = (wait, tell)
        }

        deinit {
            let place = ObjectIdentifier(self)
            wait.places.withLock { $0[place] = nil }
        }
    }

    private struct Reference: Sendable {
        weak let place: Place?
    }

    private let places = Mutex<[ObjectIdentifier: Reference]>([:])

    /// Listens to a vault from here on.
    package init(of vault: any Vault) {
        let events = vault.lockEvents()
        Task { [weak self] in
            for await event in events where event != .willLock {
                guard let self else { return }
                // Outside of the lock, which the last reference to a place takes.
                for place in places.withLock({ Array($0.values) }) { place.place?.tell() }
            }
        }
    }

    /// Calls `tell` on another thread after each lock or unlock, until the place is released. `tell` must not block.
    package func place(_ tell: @escaping @Sendable () -> Void) -> Place {
        let place = Place(self, tell)
        places.withLock { $0[ObjectIdentifier(place)] = Reference(place: place) }
        return place
    }
}
