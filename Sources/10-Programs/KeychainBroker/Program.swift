#if HTTPClientSupport
import Broker
import CLibrary
import CommandKit
import Foundation
import KeychainDaemon
import NIOPosix
import SettingsFile

/// The program: `keychain-broker`. `keychain run --broker` and `keychain mcp` start it, with a socket as descriptor 3.
@main
enum Program {
    /// A connection of the program takes two descriptors, and other users of the machine may take some.
    private static func raiseDescriptorLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = min(limit.rlim_max, 1 << 16)
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// Reads a file of settings on standard input, and writes what it says as JSON.
    private static func readSettings() -> Never {
        let bytes = try? DescriptorReader.readAll(0, limit: FileReading.longest)
        let reading = bytes.map { TOMLFile.read(Array($0)) } ?? .problem(line: 1, reason: "cannot be read")
        guard let data = try? JSONEncoder().encode(reading), (try? FileOutput.write(data, to: 1)) != nil else {
            exit(74)
        }
        exit(0)
    }

    static func main() async {
        CommandProcess.prepare()
        if CommandLine.arguments.contains("--version") {
            try? StandardOutput.write(line: DaemonProgram.version)
            exit(0)
        }
        if CommandLine.arguments.dropFirst() == ["--settings"] { readSettings() }
        guard CommandLine.arguments.count == 2, CommandLine.arguments[1] == "--link" else {
            FileHandle.standardError.write(
                Data("keychain-broker is a part of `keychain run --broker` and `keychain mcp`, which start it\n".utf8))
            exit(64)
        }
        raiseDescriptorLimit()
        // No other process of this user reads its memory.
        OwnMemory.hide()
        let link = BrokerLink(3)
        do {
            let start = try link.start()
            let certificates = start.settings.certificates
            let isFollowed = link.follow {
                // What keychain run removes itself, unless it was killed.
                unlink(certificates)
                rmdir(
                    certificates.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(
                        separator: "/"))
                exit(0)
            }
            guard isFollowed else { exit(71) }
            let broker = try RequestBroker(start, link, on: MultiThreadedEventLoopGroup.singleton)
            guard start.settings.isProxy else {
                await link.send(.ready(BrokerPlace(port: 0, token: "", certificate: "")))
                return await LinkCalls(broker).serve()
            }
            func say(_ port: Int, _ databases: [Int] = []) async {
                let certificate = broker.authority.certificate
                await link.send(
                    .ready(
                        BrokerPlace(port: port, token: broker.token, certificate: certificate, databases: databases)))
            }
            let databases = DatabaseListener.all(of: broker)
            let listener: RequestBroker.Listener
            var served: [(DatabaseListener, DatabaseListener.Connections)] = []
            if let port = start.settings.port {
                await say(port)
                // The program's first connections wait in the sockets.
                let sockets = await ReceivedSockets.all(from: 4)
                guard sockets.count == databases.count + 1 else { exit(0) }
                listener = try await broker.listen(on: sockets[0])
                for (database, socket) in zip(databases, sockets.dropFirst()) {
                    served.append((database, try await database.listen(on: socket)))
                }
            } else {
                let port: Int
                (listener, port) = try await broker.listen()
                var ports: [Int] = []
                for database in databases {
                    let (connections, port) = try await database.listen()
                    served.append((database, connections))
                    ports.append(port)
                }
                await say(port, ports)
            }
            try await withThrowingDiscardingTaskGroup { tasks in
                for (database, connections) in served { tasks.addTask { try await database.serve(connections) } }
                try await broker.serve(listener)
            }
        } catch {
            await link.send(.failed((error as? UntrustedServer)?.reason ?? "\(error)"))
            exit(70)
        }
    }
}
#else
import CLibrary

/// Without the trait `HTTPClientSupport`, there is no client of HTTP.
@main
enum Program {
    static func main() {
        let text = "keychain-broker: this program was built without the trait HTTPClientSupport\n"
        text.withCString { _ = write(2, $0, strlen($0)) }
        exit(69)
    }
}
#endif
