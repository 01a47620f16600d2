import Foundation
import Keychain
import KeychainModel
import Testing

@Suite struct InternetServerTests {
    @Test func everyPartTellsPasswordsApart() throws {
        try KeychainUnderTest.run { _ in
            let servers = [
                InternetServer(host: "example.com"),
                InternetServer(host: "www.example.com"),
                InternetServer(host: "example.com", protocol: .https),
                InternetServer(host: "example.com", port: 443),
                InternetServer(host: "example.com", path: "/a"),
                InternetServer(host: "example.com", securityDomain: "realm"),
                InternetServer(host: "example.com", authenticationType: .httpBasic),
                InternetServer(
                    host: "example.com", protocol: .https, port: 443, path: "/a", securityDomain: "realm",
                    authenticationType: .httpBasic),
            ]
            for (number, server) in servers.enumerated() {
                try Keychain(server: server).set(number, for: "ada")
            }
            for (number, server) in servers.enumerated() {
                let keychain = Keychain(server: server)
                #expect(try keychain.get(Int.self, for: "ada") == number)
                #expect(try keychain.items().map(\.target) == [.server(server)])
            }
            #expect(try Keychain(server: servers[0]).removeAll() == 1)
            #expect(try Keychain(server: servers[2]).get(Int.self, for: "ada") == 2)
        }
    }

    @Test func internetPasswordsHaveNoGenericAttribute() throws {
        try KeychainUnderTest.run { _ in
            let keychain = Keychain(server: InternetServer(host: "example.com"))
            #expect(
                code { try keychain.set("secret", for: "ada", attributes: .init(generic: Data([1]))) }
                    == .invalidRequest)
            try keychain.set("secret", for: "ada", attributes: .init(comment: "c"))
            #expect(try keychain.item(for: "ada")?.attributes == .init(comment: "c"))
            #expect(keychain.service == nil)
            #expect(keychain.server?.host == "example.com")
        }
    }

    @Test func readsAURL() throws {
        let url = try #require(URL(string: "HTTPS://ada:secret@git.example.com:8443/repositories?x=1#y"))
        #expect(
            InternetServer(url: url)
                == InternetServer(host: "git.example.com", protocol: .https, port: 8443, path: "/repositories"))
        let plain = try #require(URL(string: "gopher://example.com"))
        #expect(InternetServer(url: plain) == InternetServer(host: "example.com"))
        #expect(InternetServer(url: URL(filePath: "/tmp/file")) == nil)
    }

    /// A protocol whose name is not of four characters would be stored and never be understood.
    @Test func knowsProtocolsByURLScheme() {
        for scheme in ["ftp", "http", "https", "imaps", "ldap", "smb", "ssh", "sftp", "socks5"] {
            #expect(InternetServer.NetworkProtocol(scheme: scheme)?.rawValue.utf8.count == 4)
        }
        #expect(InternetServer.NetworkProtocol(scheme: "gopher") == nil)
    }
}
