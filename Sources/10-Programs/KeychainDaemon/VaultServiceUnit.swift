import CLibrary
import Dispatch
import ServiceLifecycle
import VaultService

/// The server as a service: serves until it is told to stop.
struct VaultServiceUnit: Service {
    let server: VaultServer
    let listener: Int32
    let journal: Journal
    let entitlements: EntitlementsSource

    func run() async throws {
        await withGracefulShutdownHandler {
            await withCheckedContinuation { continuation in
                // On the thread of a queue, because accepting blocks.
                DispatchQueue(label: "accept").async {
                    var watchdog = Systemd.watchdog()
                    server.serve(listener) {
                        if watchdog?.isDue(at: .now) == true { Systemd.notify("WATCHDOG=1") }
                        journal.writeDueRejections()
                        // So that a mistake in a changed file is told before the next program comes.
                        _ = entitlements.current()
                    }
                    continuation.resume()
                }
                Systemd.notify("READY=1\nSTATUS=serving")
            }
        } onGracefulShutdown: {
            Systemd.notify("STOPPING=1")
            server.stop()
        }
    }
}
