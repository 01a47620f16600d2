import CLibrary
import FoundationEssentials
import SystemLibraries

/// The check whether a path leads from a certificate to an anchor, for a purpose and at a time (RFC 5280, 6).
package struct CertificatePath {
    /// DER. The first is the certificate to check; the others may be part of the path.
    package var certificates: [Data]
    /// DER of the trusted certificates.
    package var anchors: [Data] = []
    /// Whether the anchors of the system are trusted, too (`/etc/ssl/certs`, `SSL_CERT_FILE` and `SSL_CERT_DIR`).
    package var trustsSystem = true
    package var purpose = Purpose.any
    /// The time at which all certificates must be valid.
    package var date: Date

    /// The use of the certificate.
    package enum Purpose: Equatable, Sendable {
        case any
        /// TLS server with the name or address of the connection; nil checks no name.
        case server(host: String?)
        case client
    }

    package init(certificates: [Data], date: Date) {
        self.certificates = certificates
        self.date = date
    }

    /// The result of the check.
    package struct Outcome: Equatable, Sendable {
        /// DER, from the checked certificate up to the point that the search for a path reached.
        package var chain: [Data]
        /// Nil if the certificate is trusted.
        package var failure: Failure?
    }

    /// The reason why the certificate is not trusted.
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

    /// Searches for a path and checks it. Does not use the network, and does not check revocation.
    ///
    /// - Throws: An error if libcrypto is missing or has no memory.
    package func evaluated() throws -> Outcome {
        let crypto = try LibcryptoContext.shared.get()
        defer { crypto.clearErrors() }
        guard let store = crypto.paths.makeStore() else { throw LibcryptoFailure.memory }
        defer { crypto.paths.freeStore(store) }
        guard let check = crypto.paths.makeCheck(crypto.context, nil) else { throw LibcryptoFailure.memory }
        defer { crypto.paths.freeCheck(check) }

        var owned: [LibcryptoContext.Object] = []
        defer { for certificate in owned { crypto.certificates.free(certificate) } }
        for anchor in anchors {
            guard let certificate = crypto.certificate(anchor) else { continue }
            owned.append(certificate)
            // The store takes its own reference.
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

    /// - Returns: False if the host name is not valid.
    private func configure(_ paths: PathFunctions, _ parameters: LibcryptoContext.Object?) -> Bool {
        // X509_V_FLAG_PARTIAL_CHAIN: any anchor ends the path, as on Apple systems, not only a self-signed one.
        // X509_V_FLAG_TRUSTED_FIRST: the shortest path to an anchor. X509_V_FLAG_X509_STRICT is not set, because it
        // rejects certificates that other software accepts.
        _ = paths.setFlags(parameters, 0x80000 | 0x8000)
        // Dates of certificates are in the years 0 to 9999 (RFC 5280, 4.1.2.5).
        paths.setTime(parameters, time_t(max(-62_167_219_200, min(date.timeIntervalSince1970, 253_402_300_799))))
        paths.setDepth(parameters, 32)
        // Level 1 means 80 bits of security. Level 2 means 112 bits: RSA from 2048 bits, no SHA-1
        // (SSL_CTX_set_security_level(3)).
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
            // X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS and X509_CHECK_FLAG_NEVER_CHECK_SUBJECT: since RFC 6125, the common
            // name is not a host name (Apple: iOS 13, "Requirements for trusted certificates").
            paths.setHostFlags(parameters, 0x4 | 0x20)
            let bare = host.hasSuffix(".") ? String(host.dropLast()) : host
            // With a dot at the start, libcrypto would accept every name with this ending (X509_check_host(3)).
            guard !bare.isEmpty, !bare.hasPrefix("."), !bare.utf8.contains(0) else { return false }
            let address = bare.hasPrefix("[") && bare.hasSuffix("]") ? String(bare.dropFirst().dropLast()) : bare
            if paths.setAddress(parameters, address) == 1 { return true }
            return paths.setHost(parameters, bare, 0) == 1
        }
        return true
    }
}

extension CertificatePath.Failure {
    /// Takes the failure for an error code of libcrypto (openssl/x509_vfy.h).
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

/// The error if libcrypto has no memory.
package enum LibcryptoFailure: Error, Equatable, CustomStringConvertible {
    case memory

    package var description: String { "no memory for the check of a certificate" }
}

extension LibcryptoContext {
    /// Reads a certificate; nil if libcrypto cannot read it or if bytes follow it.
    func certificate(_ der: Data) -> Object? {
        var certificate: Object? = certificates.make(context, nil)
        guard certificate != nil else { return nil }
        let isWhole = der.withUnsafeBytes { bytes in
            var position = bytes.bindMemory(to: UInt8.self).baseAddress
            let start = position
            // On failure, libcrypto frees the object and sets the variable to nil (d2i_X509(3)).
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

    /// Returns the DER of a certificate.
    func encoded(_ certificate: Object) -> Data? {
        encoding { certificates.encode(certificate, $0) }
    }

    /// Returns the output of an encoder of libcrypto. The first call of the encoder returns the length.
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
