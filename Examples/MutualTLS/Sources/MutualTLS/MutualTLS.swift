import Foundation
import KeychainX509
import NIOSSL
import X509

/// Mutual TLS with keys of the keychain's enclave.
@main
enum MutualTLS {
    private static let usage = """
        usage: MutualTLS self-test                 server and client in one process; 0 if all is well, else 1
               MutualTLS server [PORT]             an echo server for clients with a certificate; PORT is 8443
               MutualTLS client [PORT [MESSAGE]]   sends a message to it
               MutualTLS authority                 prints the certificate that both trust, in PEM
               MutualTLS request [NAME]            prints a request for a certificate, in PEM; NAME is server
        """

    static func main() async {
        do {
            try await run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            FileHandle.standardError.write(Data("MutualTLS: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run(_ arguments: [String]) async throws {
        let rest = arguments.dropFirst()
        switch arguments.first {
        case "self-test" where rest.isEmpty:
            try await SelfTest().run()
        case "server" where rest.count <= 1:
            try await serve(port: try port(rest.first))
        case "client" where rest.count <= 2:
            try await ask(port: try port(rest.first), message: rest.dropFirst().first ?? "hello")
        case "authority" where rest.isEmpty:
            say(try await CertificateAuthority.stored().certificate.serializeAsPEM().pemString)
        case "request" where rest.count <= 1:
            let name = rest.first ?? "server"
            let key = try Vault.key(named: name, in: .enclave)
            say(try await CertificateSigningRequest(for: name, key: key).serializeAsPEM().pemString)
        default:
            FileHandle.standardError.write(Data("\(usage)\n".utf8))
            exit(64)  // EX_USAGE of sysexits.h
        }
    }

    private static func port(_ text: String?) throws -> Int {
        guard let text else { return 8443 }
        guard let port = UInt16(text) else { throw ExampleError("\(text) is not a port") }
        return Int(port)
    }

    private static func serve(port: Int) async throws {
        let authority = try await CertificateAuthority.stored()
        let own = try await Credentials.stored("server", from: authority)
        let server = try await EchoServer(.server(own, trusting: authority.certificate), port: port)
        say("\(own.certificate.subject) listens on 127.0.0.1:\(server.port)")
        try await server.run { visit in
            switch visit {
            case .served(let client): say("served \(client)")
            case .failed(let reason): say("refused: \(reason)")
            }
        }
    }

    private static func ask(port: Int, message: String) async throws {
        let authority = try await CertificateAuthority.stored()
        let own = try await Credentials.stored("client", from: authority)
        let (reply, server) = try await EchoClient.exchange(
            message, port: port, .client(own, trusting: authority.certificate))
        say("\(server) said: \(reply)")
    }
}

/// Prints a line at once, also to a pipe.
func say(_ line: String) {
    FileHandle.standardOutput.write(Data("\(line)\n".utf8))
}
