import Access
import Foundation
import ProcessVault
import Synchronization
import VaultInterface

/// The ways in which the person at this machine can authenticate, as they are now.
public final class LAEnvironment: NSObject, Sendable {
    /// The environment of the user whom the program runs for.
    public static let currentUser = LAEnvironment(interval: .seconds(5))

    /// How long an observed environment is left alone between two looks. Neither the vault nor fprintd announces a
    /// change.
    private let interval: DispatchTimeInterval
    private let observations = Mutex(Observations())
    /// Where the environment is looked at for observers, and where they are called.
    private let queue = DispatchQueue(label: "com.apple.LocalAuthentication.LAEnvironment")

    private struct Observations {
        var all: [Observation] = []
        var isLooking = false
    }

    init(interval: DispatchTimeInterval) {
        self.interval = interval
        super.init()
    }

    /// The ways as they are now. Asks the vault at each call, and no person. Where there is no vault, no passcode is
    /// set.
    public var state: State { State((try? VaultSession.current())?.presenceAvailability) }

    /// Hears of changes of an environment.
    public protocol Observer: NSObjectProtocol {
        /// Called on a queue of this module within some seconds of a change. ``LAEnvironment/state`` is the new one
        /// already.
        ///
        /// - Parameters:
        ///   - environment: Which environment changed.
        ///   - oldState: What it was before.
        func environment(_ environment: LAEnvironment, stateDidChangeFromOldState oldState: State)
    }

    /// Lets `observer` hear of changes from now on, until it is removed or let go. The environment does not keep it.
    public func addObserver(_ observer: any Observer) {
        let observation = Observation(observer, provider: VaultSession.override, state: state)
        let isFirst = observations.withLock { observations in
            observations.all.removeAll { $0.isOf(observer) }
            observations.all.append(observation)
            defer { observations.isLooking = true }
            return !observations.isLooking
        }
        if isFirst { lookLater() }
    }

    /// Ends what ``addObserver(_:)`` began.
    public func removeObserver(_ observer: any Observer) {
        observations.withLock { $0.all.removeAll { $0.isOf(observer) } }
    }

    private func lookLater() {
        queue.asyncAfter(deadline: .now() + interval) { [weak self] in
            guard let self else { return }
            look()
            let goesOn = observations.withLock { observations in
                observations.isLooking = !observations.all.isEmpty
                return observations.isLooking
            }
            if goesOn { lookLater() }
        }
    }

    /// Tells the observers what has changed since they last heard of it.
    private func look() {
        let present = observations.withLock { observations in
            observations.all.removeAll(where: \.isOver)
            return observations.all
        }
        for observation in present {
            VaultSession.$override.withValue(observation.provider) {
                guard let former = observation.replace(with: state), isObserving(observation) else { return }
                observation.observer?.environment(self, stateDidChangeFromOldState: former)
            }
        }
    }

    private func isObserving(_ observation: Observation) -> Bool {
        observations.withLock { $0.all.contains { $0 === observation } }
    }
}

extension LAEnvironment.Observer {
    /// Does nothing: an observer may leave it out.
    public func environment(
        _ environment: LAEnvironment, stateDidChangeFromOldState oldState: LAEnvironment.State
    ) {}
}

extension VaultSession {
    var presenceAvailability: PresenceAvailability? { try? perform(ReadPresenceAvailability()) }
}

/// An observer, and what it has heard of.
// Safe to share between threads: the reference is weak and never changed, and what is behind it is called on the
// environment's queue alone. A weak reference cannot be a constant, so that the compiler cannot see this.
private final class Observation: @unchecked Sendable {
    private(set) weak var observer: (any LAEnvironment.Observer)?
    /// The vault of the task that added the observer; nil for the process's own.
    let provider: (any VaultSessionProvider)?
    private let known: Mutex<LAEnvironment.State>

    init(
        _ observer: any LAEnvironment.Observer, provider: (any VaultSessionProvider)?, state: LAEnvironment.State
    ) {
        self.observer = observer
        self.provider = provider
        known = Mutex(state)
    }

    var isOver: Bool { observer == nil }

    func isOf(_ other: any LAEnvironment.Observer) -> Bool { observer === other }

    /// - Returns: The former state, if `state` is another.
    func replace(with state: LAEnvironment.State) -> LAEnvironment.State? {
        known.withLock { known in
            guard known != state else { return nil }
            defer { known = state }
            return known
        }
    }
}
