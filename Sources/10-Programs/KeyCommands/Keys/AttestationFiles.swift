import Attestation
import CLibrary
import Certificates
import CommandKit
import FoundationEssentials
import StatusCodes

/// An attestation as files that tpm2-tools and OpenSSL read.
struct AttestationFiles {
    /// By name.
    let contents: [String: Data]

    /// The names of the files that a check needs.
    private enum Name {
        static let key = "key.pub"
        static let attestationKey = "ak.pub"
        static let statement = "attest.bin"
        static let signature = "signature.bin"
    }

    init(_ attestation: KeyAttestation) throws {
        var contents = try Self.readable(
            key: attestation.key, attestationKey: attestation.attestationKey, signature: attestation.signature)
        contents[Name.key] = attestation.key
        contents[Name.attestationKey] = attestation.attestationKey
        contents[Name.statement] = attestation.statement
        contents[Name.signature] = attestation.signature
        contents["ek.pub"] = attestation.endorsementKey
        contents["ek.pem"] = try Self.pem(attestation.endorsementKey, "endorsement key")
        for (name, certificate) in [
            ("ek-rsa.crt", attestation.rsaCertificate), ("ek-ecc.crt", attestation.ellipticCertificate),
        ] where !certificate.isEmpty {
            contents[name] = certificate
        }
        self.contents = contents
    }

    // MARK: Reading

    /// Reads the files of a folder that a check needs.
    init(folder: String) throws {
        var contents: [String: Data] = [:]
        for name in [Name.key, Name.attestationKey, Name.statement, Name.signature] {
            contents[name] = try BytesInput.readAll(path: "\(folder)/\(name)")
        }
        for name in ["key.pem", "ak.pem", "signature.der"] where access("\(folder)/\(name)", F_OK) == 0 {
            contents[name] = try BytesInput.readAll(path: "\(folder)/\(name)")
        }
        self.contents = contents
    }

    /// Checks the files, and that those for OpenSSL say the same as those of the TPM.
    func verified(nonce: Data?) throws -> AttestedKey {
        let (key, attestationKey) = (contents[Name.key] ?? Data(), contents[Name.attestationKey] ?? Data())
        let signature = contents[Name.signature] ?? Data()
        let shown = try AttestedKey(
            key: key, attestationKey: attestationKey, statement: contents[Name.statement] ?? Data(),
            signature: signature, nonce: nonce)
        for (name, expected) in try Self.readable(key: key, attestationKey: attestationKey, signature: signature)
        where contents[name].map({ $0 != expected }) ?? false {
            throw Self.refusal("\(name) does not say the same as the TPM's own structure beside it")
        }
        return shown
    }

    // MARK: Writing

    /// - Parameter folder: A new or empty folder, so that nothing is mixed up with an earlier attestation.
    func write(to folder: String) throws {
        guard mkdir(folder, 0o777) == 0 || errno == EEXIST else { throw Self.unwritable(folder) }
        let present: [String]
        do {
            present = try FileManager.default.contentsOfDirectory(atPath: folder)
        } catch {
            throw Failure(
                status: errSecIO, exitCode: ExitStatus.other,
                "\(folder.escapedForTerminal) is not a folder that can be read: name a new one with --out")
        }
        guard present.isEmpty else {
            throw Failure(
                status: errSecParam, exitCode: ExitStatus.other,
                "\(folder.escapedForTerminal) has files in it: name a new folder with --out")
        }
        for (name, bytes) in contents.sorted(by: { $0.key < $1.key }) {
            let path = "\(folder)/\(name)"
            let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
            guard descriptor >= 0 else { throw Self.unwritable(path) }
            defer { close(descriptor) }
            try FileOutput.write(bytes, to: descriptor)
        }
    }

    private static func unwritable(_ path: String) -> Failure {
        Failure(
            status: errSecIO, exitCode: ExitStatus.other,
            "\(path.escapedForTerminal) cannot be written (\(String(cString: strerror(errno)))): "
                + "name a folder of yours with --out")
    }

    // MARK: Forms

    /// Returns the structures in forms that other software reads.
    private static func readable(
        key: Data, attestationKey: Data, signature: Data
    ) throws -> [String: Data] {
        let signature = try AttestationSignature(decoding: signature)
        return [
            "key.pem": try pem(key, "key"), "ak.pem": try pem(attestationKey, "attestation key"),
            "signature.der": signature.der ?? Data(),
        ]
    }

    private static func pem(_ area: Data, _ structure: String) throws -> Data {
        let point = try PublicArea(decoding: area, of: structure).point
        do throws(CertificateError) {
            let key = try KeyData(point, type: .ellipticCurve, keyClass: .public)
            return PEM.encoding(try key.subjectPublicKeyInfo(), as: "PUBLIC KEY")
        } catch {
            throw refusal("the \(structure) is not a public key (\(error))")
        }
    }

    static func refusal(_ reason: String) -> Failure {
        Failure(
            status: errSecVerifyFailed, exitCode: ExitStatus.other,
            "the attestation proves nothing: \(reason): ask for another, with a nonce of yours")
    }
}

extension Failure {
    /// What is wrong with an attestation.
    init(_ error: AttestationError) { self = AttestationFiles.refusal(error.description) }
}

extension AttestationError: ReportedError {
    package var failure: Failure { Failure(self) }
}
