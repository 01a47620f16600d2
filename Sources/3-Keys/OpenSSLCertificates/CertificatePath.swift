import FoundationEssentials
import Glibc
import SystemLibraries

/// A question whether a certificate leads to an anchor, and for what (RFC 5280, 6).
package struct CertificatePath {
    /// DER; the first is the certificate in question, others may help to find the way.
    package var certificates: [Data]
    /// DER of the certificates that are trusted from the start.
    package var anchors: [Data] = []
    /// Whether the anchors of the system are trusted as well (`/etc/ssl/certs`, `SSL_CERT_FILE` and `SSL_CERT_DIR`).
    package var trustsSystem = true
    package var purpose = Purpose.any
    /// The moment at which all certificates must be valid.
    package var date: Date

    /// What the certificate is to be used for.
    package enum Purpose: Equatable, Sendable {
        case any
        /// TLS server, with the name or address that was connected to; nil checks no name.
        case server(host: String?)
        case client
    }

    package init(certificates: [Data], date: Date) {
        self.certificates = certificates
        self.date = date
    }

    /// What came of it.
    package struct Outcome: Equatable, Sendable {
        /// DER, the certificate in question first; as far as the path was found.
        package var chain: [Data]
        /// Nil if the certificate is to be trusted.
        package var failure: Failure?
    }

    /// Why the certificate is not to be trusted.
    package enum Failure: Equatable, Sendable {
        case expired
        case notYetValid
        case wrongHost
        case wrongUse
        /// No path leads to an anchor.
        case noAnchor
        case weakKey
        case weakSignature
        case invalidSignature
        case notAuthority
        case pathTooLong
        case revoked
        case malformed
        case unhandledExtension
        case other(code: Int32)
    }

    /// Looks for a path and checks it. Nothing is fetched from the network, and revocation is not checked.
    ///
    /// - Throws: When libcrypto is missing, or out of memory.
    package func evaluated() throws -> Outcome {
        let crypto = try Libcrypto.shared.get()
        defer { crypto.clearErrors() }
        guard let store = crypto.paths.makeStore() else { throw LibcryptoFailure.memory }
        defer { crypto.paths.freeStore(store) }
        guard let check = crypto.paths.makeCheck(crypto.context, nil) else { throw LibcryptoFailure.memory }
        defer { crypto.paths.freeCheck(check) }

        var owned: [Libcrypto.Object] = []
        defer { for certificate in owned { crypto.certificates.free(certificate) } }
        for anchor in anchors {
            guard let certificate = crypto.certificate(anchor) else { continue }
            owned.append(certificate)
            // The store keeps a reference of its own.
            guard crypto.paths.addAnchor(store, certificate) == 1 else { throw LibcryptoFailure.memory }
        }
        if trustsSystem { _ = crypto.paths.addSystemAnchors(store, crypto.context, nil) }

        guard let others = crypto.stacks.make() else { throw LibcryptoFailure.memory }
        defer { crypto.stacks.free(others) }
        guard let first = certificates.first, let leaf = crypto.certificate(first) else {
            return Outcome(chain: certificates.prefix(1).map { $0 }, failure: .malformed)
        }
        owned.append(leaf)
        for other in certificates.dropFirst() {
            guard let certificate = crypto.certificate(other) else { continue }
            owned.append(certificate)
            guard crypto.stacks.push(others, UnsafeMutableRawPointer(certificate)) > 0 else {
                throw LibcryptoFailure.memory
            }
        }

        guard crypto.paths.begin(check, store, leaf, others) == 1 else { throw LibcryptoFailure.memory }
        guard configure(crypto.paths, crypto.paths.parameters(check)) else {
            return Outcome(chain: [first], failure: .wrongHost)
        }
        let isTrusted = crypto.paths.verify(check) == 1
        let code = crypto.paths.failure(check)
        let chain = crypto.stacks.members(of: crypto.paths.chain(check)).compactMap(crypto.encoded)
        return Outcome(
            chain: chain.isEmpty ? [first] : chain,
            failure: isTrusted ? nil : Failure(code: code))
    }

    /// - Returns: False for a host name that cannot be one.
    private func configure(_ paths: PathFunctions, _ parameters: Libcrypto.Object?) -> Bool {
        // X509_V_FLAG_PARTIAL_CHAIN: any anchor ends the path, as on Apple systems, and not only one that signed
        // itself. X509_V_FLAG_TRUSTED_FIRST: the shortest way to an anchor. X509_V_FLAG_X509_STRICT is left out: it
        // refuses certificates that everybody accepts.
        _ = paths.setFlags(parameters, 0x80000 | 0x8000)
        // Certificates know the years 0 to 9999 (RFC 5280, 4.1.2.5).
        paths.setTime(parameters, time_t(max(-62_167_219_200, min(date.timeIntervalSince1970, 253_402_300_799))))
        paths.setDepth(parameters, 32)
        // Level 1 is 80 bits of security, level 2 is 112: RSA with 2048 bits and no SHA-1 (SSL_CTX_set_security_level(3)).
        switch purpose {
        case .any:
            paths.setSecurityLevel(parameters, 1)
        case .client:
            paths.setSecurityLevel(parameters, 2)
            _ = paths.setPurpose(parameters, 1)
        case .server(let host):
            paths.setSecurityLevel(parameters, 2)
            _ = paths.setPurpose(parameters, 2)
            guard let host else { return true }
            // X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS and X509_CHECK_FLAG_NEVER_CHECK_SUBJECT: the common name has been
            // no host name since RFC 6125 (Apple: iOS 13, "Requirements for trusted certificates").
            paths.setHostFlags(parameters, 0x4 | 0x20)
            let bare = host.hasSuffix(".") ? String(host.dropLast()) : host
            // A dot at the beginning would stand for every name that ends so (X509_check_host(3)).
            guard !bare.isEmpty, !bare.hasPrefix("."), !bare.utf8.contains(0) else { return false }
            let address = bare.hasPrefix("[") && bare.hasSuffix("]") ? String(bare.dropFirst().dropLast()) : bare
            if paths.setAddress(parameters, address) == 1 { return true }
            return paths.setHost(parameters, bare, 0) == 1
        }
        return true
    }
}

extension CertificatePath.Failure {
    /// The meaning of a code of libcrypto (openssl/x509_vfy.h).
    init(code: Int32) {
        self =
            switch code {
            case 10, 12: .expired
            case 9, 11: .notYetValid
            case 62, 64: .wrongHost
            case 26, 28: .wrongUse
            case 2, 18, 19, 20, 21, 27: .noAnchor
            case 66, 67: .weakKey
            case 68: .weakSignature
            case 4, 5, 7, 8: .invalidSignature
            case 24, 79, 32: .notAuthority
            case 22, 25: .pathTooLong
            case 23: .revoked
            case 6, 13, 14: .malformed
            case 34: .unhandledExtension
            default: .other(code: code)
            }
    }
}

/// libcrypto could not do its work.
package enum LibcryptoFailure: Error, Equatable, CustomStringConvertible {
    case memory

    package var description: String { "no memory for the check of a certificate" }
}

extension Libcrypto {
    /// The certificate with this encoding; nil if libcrypto cannot read it, or more comes after it.
    func certificate(_ der: Data) -> Object? {
        var certificate: Object? = certificates.make(context, nil)
        guard certificate != nil else { return nil }
        let isWhole = der.withUnsafeBytes { bytes in
            var position = bytes.bindMemory(to: UInt8.self).baseAddress
            let start = position
            // On failure the object is freed and the variable set to nil (d2i_X509(3)).
            guard certificates.decode(&certificate, &position, bytes.count) != nil, let start, let position else {
                return false
            }
            return position - start == bytes.count
        }
        guard isWhole else {
            certificates.free(certificate)
            return nil
        }
        return certificate
    }

    /// The encoding of a certificate.
    func encoded(_ certificate: Object) -> Data? {
        encoding { certificates.encode(certificate, $0) }
    }

    /// What one of libcrypto's encoders writes, which is asked for the length first.
    func encoding(_ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) -> Data? {
        let count = Int(encode(nil))
        guard count > 0 else { return nil }
        var data = Data(count: count)
        let written = data.withUnsafeMutableBytes { bytes in
            var position = bytes.bindMemory(to: UInt8.self).baseAddress
            return encode(&position)
        }
        return Int(written) == count ? data : nil
    }
}
