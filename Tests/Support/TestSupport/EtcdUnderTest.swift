import Foundation
import Glibc
import Testing

/// A cluster of etcd on the loopback interface, of Debian's package.
package final class EtcdUnderTest {
    private let folder: TemporaryFolder
    private let clientPorts: [Int]
    private let peerPorts: [Int]
    private var processes: [pid_t?]
    private let options: [String]
    /// The options of etcdctl that name certificates; empty without TLS.
    private let certificates: [String]

    /// - Parameters:
    ///   - options: Further options of etcd.
    ///   - certificates: The options of etcdctl for TLS, which etcd then has for its clients.
    package init(nodes: Int = 1, options: [String] = [], certificates: [String] = []) throws {
        folder = try TemporaryFolder()
        (self.options, self.certificates) = (options, certificates)
        let ports = try Self.freePorts(2 * nodes)
        (clientPorts, peerPorts) = (Array(ports.prefix(nodes)), Array(ports.suffix(nodes)))
        processes = Array(repeating: nil, count: nodes)
        for node in 0..<nodes { try start(node) }
        try waitUntilReady()
    }

    deinit { for node in processes.indices { kill(node) } }

    package var endpoints: [String] {
        clientPorts.map { "\(certificates.isEmpty ? "http" : "https")://127.0.0.1:\($0)" }
    }

    /// Where a node has its data.
    package func data(of node: Int) -> String { folder.path(of: "node\(node)") }

    /// Starts a node that does not run.
    package func start(_ node: Int) throws {
        // A process that is forgotten here becomes a zombie. Exit tests wait for any child, and would never end.
        guard processes[node] == nil else { return }
        let cluster = peerPorts.enumerated().map { "n\($0.offset)=http://127.0.0.1:\($0.element)" }
        let log = open(folder.path(of: "log\(node)"), O_WRONLY | O_CREAT | O_APPEND, 0o600)
        defer { close(log) }
        processes[node] = try ProgramStart(
            [
                "etcd", "--name", "n\(node)", "--data-dir", data(of: node), "--log-level", "error",
                "--listen-client-urls", endpoints[node], "--advertise-client-urls", endpoints[node],
                "--listen-peer-urls", "http://127.0.0.1:\(peerPorts[node])",
                "--initial-advertise-peer-urls", "http://127.0.0.1:\(peerPorts[node])",
                "--initial-cluster", cluster.joined(separator: ","), "--initial-cluster-token", "test",
            ] + options, environment: ["PATH=/usr/bin:/bin", "ETCD_UNSUPPORTED_ARCH=arm64", "HOME=\(folder.path)"]
        ).start { actions in
            posix_spawn_file_actions_adddup2(&actions, log, 1)
            posix_spawn_file_actions_adddup2(&actions, log, 2)
        }
    }

    /// Kills a node as a power failure does.
    package func kill(_ node: Int) {
        guard let process = processes[node] else { return }
        processes[node] = nil
        Glibc.kill(process, SIGCONT)
        Glibc.kill(process, SIGKILL)
        ProgramStart.wait(for: process)
    }

    /// Stops a node, as a dead disk or a cut network does.
    package func stop(_ node: Int) { if let process = processes[node] { Glibc.kill(process, SIGSTOP) } }

    package func resume(_ node: Int) { if let process = processes[node] { Glibc.kill(process, SIGCONT) } }

    /// Runs etcdctl with all nodes as endpoints.
    @discardableResult
    package func control(_ arguments: [String], input: Data = Data(), endpoints given: [String]? = nil) throws -> String
    {
        let outcome = try ProgramStart(
            ["etcdctl", "--endpoints", (given ?? endpoints).joined(separator: ",")] + certificates + arguments,
            environment: ["PATH=/usr/bin:/bin", "ETCDCTL_API=3"]
        ).run(input: input)
        guard outcome.status == 0 else { throw EtcdUnderTestError(text: outcome.errors) }
        return outcome.text
    }

    package func waitUntilReady() throws {
        try eventually("etcd answers") { (try? control(["endpoint", "health"])) != nil }
    }

    /// The revision of a node.
    package func revision() throws -> Int {
        let status = try control(["endpoint", "status", "-w", "json"], endpoints: [endpoints[0]])
        let number = status.firstMatch(of: /"revision":([0-9]+)/)?.1
        return try #require(number.flatMap { Int($0) })
    }

    /// Replaces the data of a single node by a snapshot, as an operator does after a disaster.
    package func restore(_ snapshot: String) throws {
        kill(0)
        try FileManager.default.removeItem(atPath: data(of: 0))
        try control([
            "snapshot", "restore", snapshot, "--name", "n0", "--data-dir", data(of: 0), "--initial-cluster",
            "n0=http://127.0.0.1:\(peerPorts[0])", "--initial-cluster-token", "test",
            "--initial-advertise-peer-urls", "http://127.0.0.1:\(peerPorts[0])",
        ])
        try start(0)
        try waitUntilReady()
    }

    package func path(of name: String) -> String { folder.path(of: name) }

    private static func freePorts(_ count: Int) throws -> [Int] {
        // All are open at once, so that they differ.
        let sockets = (0..<count).map { _ in socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) }
        defer { for socket in sockets { close(socket) } }
        return try sockets.map { socket in
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let bound = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket, $0, size) }
            }
            let named = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &size) }
            }
            guard bound == 0, named == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
            return Int(UInt16(bigEndian: address.sin_port))
        }
    }
}

package struct EtcdUnderTestError: Error, CustomStringConvertible {
    let text: String

    package var description: String { text }
}
