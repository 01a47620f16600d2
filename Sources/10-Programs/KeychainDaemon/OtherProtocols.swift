import Bytes
import CLibrary
import Dispatch
import Logging
import SecretService
import ServiceLifecycle
import SystemBus
import VaultInterface
import VaultService

/// The Secret Service for the programs on a bus.
final class SecretBusUnit: Service {
    let address: String
    let replacing: Bool
    let server: VaultServer
    let hub: SecretHub
    let starter: FrontStarter
    let logger: Logger
    /// The connection that ``run()`` begins with. It goes when it is lost: while it is open, it has the service's name.
    private let first: UnfairMutex<SecretBus?>
    /// How long a lost bus is left alone.
    private static let retryDelay = 5

    /// - Throws: `FrontError` if there is no such bus, or another program has the service's name there.
    init(
        address: String, replacing: Bool, server: VaultServer, hub: SecretHub, starter: FrontStarter, logger: Logger
    ) throws(FrontError) {
        (self.address, self.replacing, self.server, self.hub) = (address, replacing, server, hub)
        (self.starter, self.logger) = (starter, logger)
        first = UnfairMutex(try SecretBus(address, replacing: replacing, server: server, hub, starter))
    }

    func run() async throws {
        await Waker().run("session-bus") { self.serve($0) }
        // A service that ends would end the others.
        try? await gracefulShutdown()
    }

    /// Serves until the daemon stops or another program takes the name. A bus that is lost is looked for again.
    private func serve(_ waker: Waker) {
        var next = first.withLock { first in
            defer { first = nil }
            return first
        }
        var hasTold = false
        while !waker.isStopping {
            let begin = ContinuousClock.now
            if let bus = next {
                hasTold = false
                logger.notice("serving on the session bus", metadata: ["name": "org.freedesktop.secrets"])
                for reason in bus.missing {
                    logger.notice("without protection of the front process", metadata: ["reason": "\(reason)"])
                }
                waker.set(bus.waker)
                let end = bus.run { waker.isStopping }
                waker.set(nil)
                switch end {
                case .stopped: return
                case .replaced: return logger.notice("another program took org.freedesktop.secrets on the session bus")
                case .busIsGone:
                    logger.notice("the session bus is gone, or the front process for it ended; looking for it again")
                case .noThread: logger.notice("no thread can be started for the session bus; trying again")
                }
            }
            // If only the front process ended, another one is there before somebody else takes the name.
            if next == nil || .now - begin < .seconds(1) { waker.wait(seconds: Self.retryDelay) }
            next = nil
            guard !waker.isStopping else { return }
            do {
                next = try SecretBus(address, replacing: replacing, server: server, hub, starter)
            } catch {
                if !hasTold { logger.notice("not on the session bus", metadata: ["reason": "\(error)"]) }
                hasTold = true
            }
        }
    }
}

/// What starts the processes that speak the bus's protocol, if the daemon is asked for it.
struct FrontStarters {
    let ofPrograms: FrontStarter?
    let ofBus: FrontStarter?

    /// - Throws: `FrontError`.
    init(_ options: DaemonOptions) throws(FrontError) {
        let wantsPrograms = options.secretService || Systemd.passesBus
        ofPrograms = wantsPrograms ? try FrontStarter(for: .programs) : nil
        ofBus = options.sessionBus ? try FrontStarter(for: .bus) : nil
    }

    /// What the machine does not let the fronts give up.
    var missing: [String] { (ofPrograms?.missing ?? []) + (ofBus?.missing ?? []) }

    /// Why programs are not served any more.
    var problems: [VaultProblem] {
        [("programs that connect to the daemon's socket", ofPrograms), ("the session bus", ofBus)]
            .compactMap { place, starter in
                starter?.problem.map { reason in
                    VaultProblem(.secretService, "the Secret Service is not there for \(place): \(reason)")
                }
            }
    }
}

/// Lets another thread end what waits.
private final class Waker: Sendable {
    private struct State {
        var wake: (@Sendable () -> Void)?
        var isStopping = false
    }

    private let state = UnfairMutex(State())
    private let stopped = DispatchSemaphore(value: 0)

    var isStopping: Bool { state.withLock { $0.isStopping } }

    func set(_ wake: (@Sendable () -> Void)?) { state.withLock { $0.wake = wake } }

    func stop() {
        let wake = state.withLock { state in
            state.isStopping = true
            return state.wake
        }
        stopped.signal()
        wake?()
    }

    /// Runs `body`, which may block, on the thread of a queue, and calls ``stop()`` when the service is to end.
    func run(_ name: String, _ body: @escaping @Sendable (Waker) -> Void) async {
        await withGracefulShutdownHandler {
            await withCheckedContinuation { continuation in
                DispatchQueue(label: name).async {
                    body(self)
                    continuation.resume()
                }
            }
        } onGracefulShutdown: {
            self.stop()
        }
    }

    func wait(seconds: Int) { _ = stopped.wait(timeout: .now() + .seconds(seconds)) }
}
