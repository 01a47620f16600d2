import Foundation
import KeychainServices
import OnlineChecks
import TestSupport
import Testing

/// An authority of OpenSSL's program that revokes certificates, for one test.
final class RevokingAuthority: Sendable {
    private let folder: TemporaryFolder

    static let authority = ["basicConstraints=critical,CA:true", "keyUsage=critical,keyCertSign,cRLSign"]
    static let server = ["basicConstraints=CA:false", "extendedKeyUsage=serverAuth", "subjectAltName=DNS:example.com"]
    static let responder = ["basicConstraints=CA:false", "extendedKeyUsage=OCSPSigning", "noCheck=ignored"]

    /// Makes a root, which is the anchor, with nothing revoked.
    init() throws {
        folder = try TemporaryFolder()
        try openssl(
            "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "root.key")
        try make("root", extensions: Self.authority)
        try write("", to: "index.txt")
        try write("00", to: "crlnumber")
    }

    func path(_ name: String) -> String { folder.path(of: name) }

    func read(_ name: String) throws -> Data { try Data(contentsOf: URL(filePath: path(name))) }

    func write(_ text: String, to name: String) throws { try Data(text.utf8).write(to: URL(filePath: path(name))) }

    @discardableResult
    func openssl(_ arguments: String...) throws -> String { try openssl(arguments) }

    @discardableResult
    func openssl(_ arguments: [String]) throws -> String {
        let run = try ProgramStart(["openssl"] + arguments, folder: folder.path).run()
        guard run.status == 0 else {
            throw NSError(domain: "openssl", code: 1, userInfo: [NSLocalizedDescriptionKey: run.text + run.errors])
        }
        return run.text
    }

    /// The serial number of a certificate, in hexadecimal digits, from its name.
    private func serial(_ name: String) -> String {
        "10" + name.utf8.map { String(format: "%02X", $0) }.joined()
    }

    /// Makes a certificate with a key of its own.
    ///
    /// - Parameter issuer: Nil for itself.
    @discardableResult
    func make(_ name: String, by issuer: String? = nil, extensions: [String], subject: String? = nil) throws -> Data {
        if !FileManager.default.fileExists(atPath: path("\(name).key")) {
            try openssl(
                "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "\(name).key")
        }
        try write(
            "[req]\ndistinguished_name=name\n[name]\n[own]\n" + extensions.joined(separator: "\n") + "\n",
            to: "\(name).conf")
        var command = [
            "req", "-x509", "-new", "-sha256", "-key", "\(name).key", "-subj", subject ?? "/CN=\(name)", "-days", "30",
            "-config", "\(name).conf", "-extensions", "own", "-out", "\(name).pem", "-set_serial", "0x\(serial(name))",
        ]
        if let issuer { command += ["-CA", "\(issuer).pem", "-CAkey", "\(issuer).key"] }
        try openssl(command)
        try openssl("x509", "-in", "\(name).pem", "-outform", "DER", "-out", "\(name).der")
        return try der(name)
    }

    /// Makes the root again, valid since 2025.
    func makeOldRoot() throws {
        try write("", to: "own.txt")
        try write("01", to: "own.serial")
        try write(
            """
            [ca]
            default_ca=own
            [own]
            database=own.txt
            new_certs_dir=.
            serial=own.serial
            default_md=sha256
            policy=any
            [any]
            commonName=supplied
            [root]
            \(Self.authority.joined(separator: "\n"))

            """, to: "own.conf")
        try openssl("req", "-new", "-key", "root.key", "-subj", "/CN=root", "-out", "root.csr")
        try openssl(
            "ca", "-batch", "-selfsign", "-config", "own.conf", "-extensions", "root", "-keyfile", "root.key", "-in",
            "root.csr", "-startdate", "20250101000000Z", "-enddate", "20450101000000Z", "-notext",
            "-out", "root.pem")
        try openssl("x509", "-in", "root.pem", "-outform", "DER", "-out", "root.der")
    }

    func der(_ name: String) throws -> Data { try read("\(name).der") }

    func certificate(_ name: String) throws -> SecCertificate {
        try #require(SecCertificateCreateWithData(nil, try der(name) as NSData))
    }

    /// Makes the index of certificates, from which the program answers and makes lists. They need not exist yet. A
    /// responder reads it when it starts.
    func list(good: [String] = [], revoked: [String] = []) throws {
        let lines =
            good.map { "V\t401231235959Z\t\t\(serial($0))\tunknown\t/CN=\($0)" }
            + revoked.map { "R\t401231235959Z\t250101000000Z\t\(serial($0))\tunknown\t/CN=\($0)" }
        try write(lines.map { $0 + "\n" }.joined(), to: "index.txt")
    }

    /// The answer of an OCSP responder, made without a network.
    ///
    /// - Parameters:
    ///   - name: The certificate in question.
    ///   - signer: Whose key signs.
    ///   - issuer: The issuer of the certificate.
    ///   - options: Further options of `openssl ocsp`, such as the end of the answer.
    func response(
        about name: String, signer: String = "root", issuer: String = "root", digest: String = "-sha1",
        _ options: [String] = ["-ndays", "1"]
    ) throws -> Data {
        // Servers of a test may ask at once.
        let (question, answer) = ("\(UUID()).question", "\(UUID()).answer")
        try openssl(
            "ocsp", digest, "-issuer", "\(issuer).pem", "-cert", "\(name).pem", "-no_nonce", "-reqout", question)
        try openssl(
            [
                "ocsp", "-index", "index.txt", "-CA", "\(issuer).pem", "-rsigner", "\(signer).pem", "-rkey",
                "\(signer).key", "-reqin", question, "-respout", answer,
            ] + options)
        return try read(answer)
    }

    /// Starts a responder of OpenSSL's program on a free port.
    func startResponder(signer: String = "root", _ options: [String] = ["-ndays", "1"]) throws -> RunningResponder {
        try RunningResponder(
            [
                "ocsp", "-port", "0", "-index", path("index.txt"), "-CA", path("root.pem"), "-rsigner",
                path("\(signer).pem"), "-rkey", path("\(signer).key"),
            ] + options)
    }

    /// Makes a revocation list from the index.
    ///
    /// - Parameters:
    ///   - namesKey: Whether the list says which key signed it.
    ///   - extensions: Of the list, besides its number.
    func revocationList(
        by issuer: String = "root", namesKey: Bool = true, extensions: [String] = [],
        _ options: [String] = ["-crldays", "1"]
    ) throws -> Data {
        try write(
            """
            [ca]
            default_ca=own
            [own]
            database=index.txt
            crlnumber=crlnumber
            default_md=sha256
            unique_subject=no
            [list]
            \(((namesKey ? ["authorityKeyIdentifier=keyid"] : []) + extensions).joined(separator: "\n"))

            """, to: "ca.conf")
        try openssl(
            [
                "ca", "-config", "ca.conf", "-gencrl", "-crlexts", "list", "-cert", "\(issuer).pem", "-keyfile",
                "\(issuer).key", "-out", "list.pem",
            ] + options)
        try openssl("crl", "-in", "list.pem", "-outform", "DER", "-out", "list.der")
        return try read("list.der")
    }

    /// A question whether certificates are trusted, below the root.
    func trust(
        _ names: [String], _ policies: [SecPolicy] = [SecPolicyCreateSSL(true, "example.com")],
        _ settings: OnlineSettings = .patient
    ) throws -> SecTrust {
        var created: SecTrust?
        let certificates = try names.map(certificate)
        #expect(SecTrustCreateWithCertificates(certificates as NSArray, policies as NSArray, &created) == errSecSuccess)
        let trust = try #require(created)
        #expect(SecTrustSetAnchorCertificates(trust, [try certificate("root")] as NSArray) == errSecSuccess)
        trust.setOnline(settings)
        return trust
    }
}

/// A responder of OpenSSL's program.
final class RunningResponder {
    let port: Int
    private let worker: Worker

    var address: String { "http://127.0.0.1:\(port)" }

    init(_ arguments: [String]) throws {
        worker = try Worker(arguments, command: "openssl")
        // Such as `ACCEPT [::]:45565 PID=30791`.
        var line = worker.readLine()
        while let text = line, !text.hasPrefix("ACCEPT ") { line = worker.readLine() }
        let port = line?.split(separator: " ").dropFirst().first?.split(separator: ":").last.flatMap { Int($0) }
        self.port = try #require(port, "the responder says no port: \(line ?? "nothing")")
    }

    /// Ends it, and waits for that.
    func end() {
        worker.kill()
        worker.wait()
    }
}

/// The status of an evaluation: that of its error.
func status(of trust: SecTrust) -> OSStatus {
    var error: CFError?
    let isTrusted = SecTrustEvaluateWithError(trust, &error)
    #expect(isTrusted == (error == nil))
    return OSStatus(error?.code ?? 0)
}
