import Foundation
import KeychainServices
import TestSupport
import Testing

/// Certificates made by the `openssl` program, for one test run.
final class Authority: Sendable {
    static let shared = Result { try Authority() }

    private let folder: TemporaryFolder

    /// What a certificate is made of.
    struct Request {
        var name: String
        var issuer: String?
        var extensions: [String]
        var key = ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
        var digest = "sha256"
        var days = 30
    }

    private init() throws {
        folder = try TemporaryFolder()
        let authority = ["basicConstraints=critical,CA:true", "keyUsage=critical,keyCertSign"]
        let server = ["basicConstraints=CA:false", "extendedKeyUsage=serverAuth"]
        for request in [
            Request(name: "root", issuer: nil, extensions: authority, days: 300),
            Request(name: "other-root", issuer: nil, extensions: authority),
            Request(name: "intermediate", issuer: "root", extensions: authority, days: 200),
            Request(
                name: "server", issuer: "intermediate",
                extensions: server + [
                    "subjectAltName=DNS:example.com,DNS:*.wild.example.com,IP:192.0.2.7,IP:2001:db8::7"
                ]),
            Request(name: "named-only", issuer: "intermediate", extensions: server),
            Request(
                name: "client", issuer: "intermediate",
                extensions: ["basicConstraints=CA:false", "extendedKeyUsage=clientAuth"]),
            Request(name: "by-a-leaf", issuer: "server", extensions: server + ["subjectAltName=DNS:example.com"]),
            Request(
                name: "short-key", issuer: "root", extensions: server + ["subjectAltName=DNS:example.com"],
                key: ["rsa:1024"]),
            Request(
                name: "old-digest", issuer: "root", extensions: server + ["subjectAltName=DNS:example.com"],
                digest: "sha1"),
            Request(
                name: "critical", issuer: "root",
                extensions: server + ["subjectAltName=DNS:example.com", "1.2.3.4=critical,ASN1:NULL"]),
        ] {
            try make(request)
        }
    }

    private func make(_ request: Request) throws {
        let name = request.name
        try openssl(
            ["req", "-new", "-newkey"] + request.key + [
                "-nodes", "-keyout", "\(name).key", "-out", "\(name).csr", "-subj", "/CN=\(name).example.com",
                "-sha256",
            ])
        let text = request.extensions.joined(separator: "\n") + "\n"
        try Data(text.utf8).write(to: url("\(name).ext"))
        var command = ["x509", "-req", "-in", "\(name).csr", "-extfile", "\(name).ext", "-\(request.digest)"]
        command += ["-days", String(request.days), "-out", "\(name).pem"]
        if let issuer = request.issuer {
            command += ["-CA", "\(issuer).pem", "-CAkey", "\(issuer).key", "-CAcreateserial"]
        } else {
            command += ["-signkey", "\(name).key"]
        }
        try openssl(command)
        try openssl(["x509", "-in", "\(name).pem", "-outform", "DER", "-out", "\(name).der"])
    }

    private func url(_ name: String) -> URL { URL(filePath: folder.path(of: name)) }

    func der(_ name: String) throws -> Data { try read("\(name).der") }

    func read(_ file: String) throws -> Data { try Data(contentsOf: url(file)) }

    func certificate(_ name: String) throws -> SecCertificate {
        guard let certificate = SecCertificateCreateWithData(nil, try der(name) as NSData) else {
            throw CocoaError(.fileReadCorruptFile)
        }
        return certificate
    }

    /// A PKCS#12 file of an identity; `options` are those of `openssl pkcs12 -export`.
    func exchangeFile(
        _ name: String, with certificates: [String] = [], passphrase: String, _ options: [String] = []
    ) throws -> Data {
        let output = UUID().uuidString + ".p12"
        let others = try certificates.map { try String(contentsOf: url("\($0).pem"), encoding: .utf8) }.joined()
        try Data(others.utf8).write(to: url("\(output).pem"))
        var command = ["pkcs12", "-export", "-inkey", "\(name).key", "-in", "\(name).pem", "-out", output]
        if !certificates.isEmpty { command += ["-certfile", "\(output).pem"] }
        try openssl(command + ["-passout", "stdin"] + options, input: passphrase + "\n")
        return try Data(contentsOf: url(output))
    }

    @discardableResult
    func openssl(_ arguments: [String], input: String = "") throws -> String {
        let run = try ProgramStart(["openssl"] + arguments, folder: folder.path).run(input: Data(input.utf8))
        let text = run.text + run.errors
        guard run.status == 0 else {
            throw NSError(domain: "openssl", code: 1, userInfo: [NSLocalizedDescriptionKey: text])
        }
        return text
    }
}
