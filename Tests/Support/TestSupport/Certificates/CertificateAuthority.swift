import Foundation

/// Certificates that OpenSSL's program makes, each in files with its name: the key, `.pem` and `.der`. It also revokes
/// them.
package final class CertificateAuthority: Sendable {
    private let program: OpenSSLProgram

    package static let authority = ["basicConstraints=critical,CA:true", "keyUsage=critical,keyCertSign,cRLSign"]
    package static let server = [
        "basicConstraints=CA:false", "extendedKeyUsage=serverAuth", "subjectAltName=DNS:example.com",
    ]
    package static let responder = ["basicConstraints=CA:false", "extendedKeyUsage=OCSPSigning", "noCheck=ignored"]
    /// The options of `genpkey` for a key that is made at once.
    private static let curve = ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]

    /// - Parameter hasRoot: Whether it makes the certificate `root`, with nothing revoked.
    package init(hasRoot: Bool = true) throws {
        program = try OpenSSLProgram()
        guard hasRoot else { return }
        try make("root", extensions: Self.authority)
        try write("", to: "index.txt")
        try write("00", to: "crlnumber")
    }

    package func path(_ name: String) -> String { program.path(name) }

    package func read(_ name: String) throws -> Data { try program.read(name) }

    package func write(_ text: String, to name: String) throws { try program.write(text, to: name) }

    @discardableResult
    package func openssl(_ arguments: String...) throws -> String { try openssl(arguments) }

    /// Runs the program, and returns what it prints.
    @discardableResult
    package func openssl(_ arguments: [String], input: String = "") throws -> String {
        let outcome = try program.run(arguments, input: Data(input.utf8))
        return outcome.text + outcome.errors
    }

    package func der(_ name: String) throws -> Data { try read("\(name).der") }

    /// The serial number of a certificate, in hexadecimal digits, from its name.
    private func serial(_ name: String) -> String {
        "10" + name.utf8.map { String(format: "%02X", $0) }.joined()
    }

    /// Makes a key, in place of one that is there.
    ///
    /// - Parameter options: Those of `openssl genpkey`; nil for a key of P-256.
    package func makeKey(_ name: String, _ options: [String]? = nil) throws {
        try program.run(["genpkey", "-out", "\(name).key"] + (options ?? Self.curve))
    }

    /// Makes a certificate, and its key if there is none.
    ///
    /// - Parameters:
    ///   - key: Whose key it has; nil for that of the name.
    ///   - issuer: Nil for itself.
    ///   - issuerKey: Whose key signs it; nil for that of the issuer.
    ///   - extensions: As in a configuration file (x509v3_config(5)).
    ///   - subject: Nil for the name of the key.
    @discardableResult
    package func make(
        _ name: String, key: String? = nil, by issuer: String? = nil, issuerKey: String? = nil, extensions: [String],
        subject: String? = nil, digest: String = "sha256", days: Int = 30
    ) throws -> Data {
        let key = key ?? name
        if !FileManager.default.fileExists(atPath: path("\(key).key")) { try makeKey(key) }
        try write(
            "[req]\ndistinguished_name=name\n[name]\n[own]\n" + extensions.joined(separator: "\n") + "\n",
            to: "\(name).conf")
        var command = [
            "req", "-x509", "-new", "-\(digest)", "-key", "\(key).key", "-subj", subject ?? "/CN=\(key)", "-days",
            "\(days)", "-config", "\(name).conf", "-extensions", "own", "-out", "\(name).pem", "-set_serial",
            "0x\(serial(name))",
        ]
        if let issuer { command += ["-CA", "\(issuer).pem", "-CAkey", "\(issuerKey ?? issuer).key"] }
        try program.run(command)
        return try convert(name)
    }

    /// Makes a certificate without extensions, which is of version 1.
    ///
    /// - Parameter issuer: Nil for itself.
    @discardableResult
    package func makeOld(_ name: String, by issuer: String? = nil) throws -> Data {
        if !FileManager.default.fileExists(atPath: path("\(name).key")) { try makeKey(name) }
        try openssl("req", "-new", "-key", "\(name).key", "-subj", "/CN=\(name)", "-out", "\(name).csr")
        let signing = issuer.map { ["-CA", "\($0).pem", "-CAkey", "\($0).key"] } ?? ["-signkey", "\(name).key"]
        try openssl(["x509", "-req", "-in", "\(name).csr", "-sha256", "-days", "30", "-out", "\(name).pem"] + signing)
        return try convert(name)
    }

    private func convert(_ name: String) throws -> Data {
        try openssl("x509", "-in", "\(name).pem", "-outform", "DER", "-out", "\(name).der")
        return try der(name)
    }

    /// Makes the root again, valid since 2025.
    package func makeOldRoot() throws {
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
        _ = try convert("root")
    }

    /// A PKCS#12 file of an identity; `options` are those of `openssl pkcs12 -export`.
    package func exchangeFile(
        _ name: String, with certificates: [String] = [], passphrase: String, _ options: [String] = []
    ) throws -> Data {
        let output = UUID().uuidString + ".p12"
        let others = try certificates.map { String(decoding: try read("\($0).pem"), as: UTF8.self) }.joined()
        try write(others, to: "\(output).pem")
        var command = ["pkcs12", "-export", "-inkey", "\(name).key", "-in", "\(name).pem", "-out", output]
        if !certificates.isEmpty { command += ["-certfile", "\(output).pem"] }
        try openssl(command + ["-passout", "stdin"] + options, input: passphrase + "\n")
        return try read(output)
    }

    /// Makes the index of certificates, from which the program answers and makes lists. They need not exist yet. A
    /// responder reads it when it starts.
    package func list(good: [String] = [], revoked: [String] = []) throws {
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
    package func response(
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
    package func startResponder(signer: String = "root", _ options: [String] = ["-ndays", "1"]) throws
        -> RunningResponder
    {
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
    package func revocationList(
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
}
