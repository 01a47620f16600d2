import CLibrary
import Dispatch
import Logging
import SecretService
import ServiceLifecycle
import SystemBus
import SystemLibraries
import VaultService

/// The Secret Service for programs that connect to a socket of its own. The server ends
/// their connections.
struct SecretSocketUnit: Service {
    let server: VaultServer
    let listener: Int32
    let hub: SecretHub

    func run() async throws {
        let waker = Waker()
        await withGracefulShutdownHandler {
            await withCheckedContinuation { continuation in
                // On the thread of a queue, because accepting blocks.
                DispatchQueue(label: "accept-bus").async {
                    server.serve(listener, while: { !waker.isStopping }) { SecretGuests.serve($0, $1, hub) }
                    continuation.resume()
                }
            }
        } onGracefulShutdown: {
            waker.stop()
        }
    }
}

/// The Secret Service for the programs on a bus.
struct SecretBusUnit: Service {
    let address: String
    let replacing: Bool
    let server: VaultServer
    let hub: SecretHub
    let logger: Logger
    /// How long a lost bus is left alone.
    private static let retryDelay = 5

    init(address: String, replacing: Bool, server: VaultServer, hub: SecretHub, logger: Logger) {
        (self.address, self.replacing, self.server, self.hub, self.logger) = (address, replacing, server, hub, logger)
    }

    func run() async throws {
        let waker = Waker()
        let failure = await withGracefulShutdownHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<BusError?, Never>) in
                let isStarted = DetachedThread.start("session-bus") { continuation.resume(returning: serve(waker)) }
                if !isStarted { continuation.resume(returning: .system(operation: "start a thread", errno: EAGAIN)) }
            }
        } onGracefulShutdown: {
            waker.stop()
        }
        if let failure { throw failure }
        // A service that ends would end the others.
        try? await gracefulShutdown()
    }

    /// Serves until the server stops. A bus that is lost is looked for again.
    ///
    /// - Returns: Why it could not begin; nil later.
    private func serve(_ waker: Waker) -> BusError? {
        var hasServed = false
        while !waker.isStopping {
            do throws(BusError) {
                let bus = try SecretBus(address, replacing: replacing, server: server, hub)
                hasServed = true
                logger.notice("serving on the session bus", metadata: ["name": "org.freedesktop.secrets"])
                waker.set(bus.waker)
                let end = bus.run { waker.isStopping }
                waker.set(nil)
                switch end {
                case .stopped: return nil
                case .replaced:
                    logger.notice("another program took org.freedesktop.secrets on the session bus")
                    return nil
                case .busIsGone: logger.notice("the session bus is gone; looking for it again")
                }
            } catch {
                guard hasServed else { return error }
            }
            waker.wait(seconds: Self.retryDelay)
        }
        return nil
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

    func wait(seconds: Int) { _ = stopped.wait(timeout: .now() + .seconds(seconds)) }
}
