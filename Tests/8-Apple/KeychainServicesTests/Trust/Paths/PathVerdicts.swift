import Crypto
import Foundation
import KeychainServices
import TestSupport
import Testing

/// The certificates of the table, and what OpenSSL's program says of them. Certificates of different cases have
/// different names, so one start of the program judges all cases of a policy and a time.
struct PathVerdicts: Sendable {
    static let shared = Result { try PathVerdicts(PathTable.cases) }

    /// DER by case and by name.
    private let made: [[String: Data]]
    private let accepted: Set<Int>

    private init(_ cases: [PathCase]) throws {
        made = try cases.map(Self.make)
        var accepted: Set<Int> = []
        for cases in Dictionary(grouping: cases, by: Self.options).values {
            accepted.formUnion(try Self.accepted(cases, made))
        }
        self.accepted = accepted
    }

    /// Whether OpenSSL's program trusts the certificate.
    func isAccepted(_ entry: PathCase) -> Bool { accepted.contains(entry.number) }

    func der(_ name: String, of entry: PathCase) throws -> Data { try #require(made[entry.number][name]) }

    /// All certificates, without repetition, in the same order each time.
    var all: [Data] { made.flatMap { $0.sorted { $0.key < $1.key }.map(\.value) } }

    private static func key(_ number: UInt8) throws -> P256.Signing.PrivateKey {
        try P256.Signing.PrivateKey(rawRepresentation: Data(repeating: number, count: 32))
    }

    private static func make(_ entry: PathCase) throws -> [String: Data] {
        func member(_ name: String) throws -> PathCase.Member {
            try #require(entry.members.first { $0.name == name }, "\(entry.name): \(name)")
        }
        func subject(_ member: PathCase.Member) -> Data {
            DERValue.name(member.subject ?? ["CN=\(member.namesake ?? member.name) \(entry.number)"])
        }
        func key(_ member: PathCase.Member) throws -> P256.Signing.PrivateKey {
            let name = member.namesake ?? member.name
            return try self.key(member.key ?? (name.utf8.reduce(1) { $0 &* 31 &+ $1 } | 1))
        }
        var made: [String: Data] = [:]
        for (serial, member) in entry.members.enumerated() {
            let issuer = try member.issuer.map { try #require(entry.members.map(\.name).contains($0) ? $0 : nil) }
            let signer = try issuer.map { name in try #require(entry.members.first { $0.name == name }) } ?? member
            var certificate = MadeCertificate(
                subject: subject(member), issuer: subject(signer), from: member.validity.from, to: member.validity.to,
                publicKey: try member.publicKey ?? key(member).publicKey.derRepresentation)
            certificate.serial = serial + 1
            certificate.extensions = member.extensions
            member.change?(&certificate)
            made[member.name] = try certificate.signed(with: key(signer))
        }
        return made
    }

    /// The options of the program that stand for a policy and a time.
    private static func options(of entry: PathCase) -> [String] {
        let policy: [String] =
            switch entry.policy {
            // As strong as the policies for TLS ask for (SSL_CTX_set_security_level(3)).
            case .server(let host):
                ["-purpose", "sslserver", "-auth_level", "2"] + (host.map(Self.option) ?? [])
            case .client: ["-purpose", "sslclient", "-auth_level", "2"]
            case .basic: ["-auth_level", "1"]
            }
        let time = String(Int(entry.date.timeIntervalSince1970.rounded(.down)))
        return ["verify", "-policy_check", "-policy", "anyPolicy", "-partial_chain", "-attime", time] + policy
    }

    private static func option(host: String) -> [String] {
        let isAddress = host.contains(":") || host.allSatisfy { $0.isNumber || $0 == "." }
        return [isAddress ? "-verify_ip" : "-verify_hostname", host]
    }

    private static func accepted(_ cases: [PathCase], _ made: [[String: Data]]) throws -> [Int] {
        let program = try OpenSSLProgram()
        func write(_ certificates: [Data], to name: String) throws {
            try program.write(privacyEnhancedMail(of: certificates), to: name)
        }
        try write(cases.flatMap { entry in entry.anchors.compactMap { made[entry.number][$0] } }, to: "anchors.pem")
        try write(
            cases.flatMap { entry in entry.given.dropFirst().compactMap { made[entry.number][$0] } }, to: "others.pem")
        for entry in cases {
            try write(entry.given.prefix(1).compactMap { made[entry.number][$0] }, to: "\(entry.number)")
        }
        let others = cases.contains { $0.given.count > 1 } ? ["-untrusted", "others.pem"] : []
        let command = options(of: cases[0]) + ["-trusted", "anchors.pem"] + others
        // It ends with an error if it refuses one.
        let run = try program.start(command + cases.map { "\($0.number)" })
        let lines = Set(run.text.split(separator: "\n").map(String.init))
        // It says something about each of them, whatever that is.
        for entry in cases where !lines.contains("\(entry.number): OK") {
            #expect(run.errors.contains("error \(entry.number): verification failed"), "\(entry.name): \(run.errors)")
        }
        return cases.map(\.number).filter { lines.contains("\($0): OK") }
    }
}
