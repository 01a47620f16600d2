import Bytes
import CLibrary
import Certificates
import FoundationEssentials

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
        /// The path ends with a certificate that signed itself and is no anchor.
        case noAnchor
        /// No path leads to an anchor: a certificate is missing.
        case incomplete
        case weakKey
        case weakSignature
        case invalidSignature
        /// A certificate of the path breaks a rule for authorities, or for the form of certificates.
        case rule(PathRules.Violation)
        case pathTooLong
        /// A name is outside of what an authority may certify.
        case nameConstraints
        case policies
        case revoked
        /// Nobody said that it is not revoked, and somebody has to.
        case unanswered
        /// Not enough public logs promise to list it.
        case unlisted
        case malformed
        case other(code: Int32)
    }

    /// How many paths are tried: enough for authorities that have signed each other, and few enough that the search
    /// ends at once for certificates that were made to have many.
    private static let mostPaths = 64

    /// Searches for a path and checks it. Does not use the network, and does not check revocation.
    ///
    /// Where a path fails, others are tried in which namesakes of its certificates come first. If all fail, the outcome
    /// is that of the first.
    ///
    /// - Throws: An error if libcrypto is missing or has no memory.
    package func evaluated() throws -> Outcome {
        let outcome = try search()
        // The moment at which a certificate ends belongs to it (RFC 5280, 4.1.2.5), and libcrypto says that it does
        // not. What is valid a second before is valid at that moment.
        let second = date.timeIntervalSince1970
        guard outcome.failure == .expired, second == second.rounded() else { return outcome }
        var before = self
        before.date = date - 1
        let last = try before.search()
        return last.failure == nil ? last : outcome
    }

    private func search() throws -> Outcome {
        let crypto = try LibcryptoContext.shared.get()
        defer { crypto.clearErrors() }
        guard let first = certificates.first else { return Outcome(chain: [], failure: .malformed) }
        let given = GivenCertificates(certificates + anchors, crypto)
        // They own the objects that libcrypto uses.
        defer { withExtendedLifetime(given) {} }
        guard let leaf = given.object(of: first) else { return Outcome(chain: [first], failure: .malformed) }
        var stores: [Set<Data>: TrustStore] = [:]
        var result: Outcome?
        var left: [[Data]] = [[]]
        var known: Set<Set<Data>> = [[]]
        for number in 0..<Self.mostPaths where number < left.count {
            let last = left[number]
            let omittedAnchors = Set(last).intersection(anchors)
            let store = try stores[omittedAnchors] ?? makeStore(given, without: omittedAnchors, crypto)
            stores[omittedAnchors] = store
            let outcome = try withExtendedLifetime(store) {
                try firstPath(from: leaf, given, store, last: last, crypto)
            }
            if outcome.failure == nil { return outcome }
            result = result ?? outcome
            for member in outcome.chain.dropFirst() where given.hasOther(like: member) {
                guard !last.contains(member), known.count < Self.mostPaths else { continue }
                if known.insert(Set(last + [member])).inserted { left.append(last + [member]) }
            }
        }
        return result ?? Outcome(chain: [first], failure: .malformed)
    }

    private func makeStore(
        _ given: GivenCertificates, without omitted: Set<Data>, _ crypto: LibcryptoContext
    ) throws -> TrustStore {
        let store = try TrustStore(crypto)
        for anchor in anchors where !omitted.contains(anchor) {
            guard let certificate = given.object(of: anchor) else { continue }
            // The store takes its own reference.
            guard crypto.paths.addAnchor(store.object, certificate) == 1 else { throw LibcryptoFailure.memory }
        }
        if trustsSystem { _ = crypto.paths.addSystemAnchors(store.object, crypto.context, nil) }
        return store
    }

    /// Checks the path that libcrypto finds first.
    ///
    /// - Parameter last: Certificates of which libcrypto is to use namesakes, if there is one.
    private func firstPath(
        from leaf: LibcryptoContext.Object, _ given: GivenCertificates, _ store: TrustStore, last: [Data],
        _ crypto: LibcryptoContext
    ) throws -> Outcome {
        guard let check = crypto.paths.makeCheck(crypto.context, nil) else { throw LibcryptoFailure.memory }
        defer { crypto.paths.freeCheck(check) }
        guard let others = crypto.stacks.make() else { throw LibcryptoFailure.memory }
        defer { crypto.stacks.free(others) }
        // Of those with one name, libcrypto takes the first that is valid now.
        let lastOnes = Set(last)
        let (early, late) = (
            certificates.dropFirst().filter { !lastOnes.contains($0) }, last.filter(certificates.contains)
        )
        for other in early + late {
            guard let certificate = given.object(of: other) else { continue }
            guard crypto.stacks.push(others, UnsafeMutableRawPointer(certificate)) > 0 else {
                throw LibcryptoFailure.memory
            }
        }
        guard crypto.paths.begin(check, store.object, leaf, others) == 1 else { throw LibcryptoFailure.memory }
        guard configure(crypto.paths, crypto.paths.parameters(check)) else {
            return Outcome(chain: certificates.prefix(1).map { $0 }, failure: .wrongHost)
        }
        let isTrusted = crypto.paths.verify(check) == 1
        let code = crypto.paths.failure(check)
        // libcrypto clears unused bits of a signature, so the first certificate could come back as another.
        let chain =
            certificates.prefix(1)
            + crypto.stacks.members(of: crypto.paths.chain(check)).dropFirst()
            .compactMap(crypto.encoded)
        let failure = failure(of: Array(chain), isTrusted ? nil : Failure(code: code), given)
        return Outcome(chain: Array(chain), failure: failure)
    }

    /// Returns why a path is not trusted.
    ///
    /// - Parameter found: What libcrypto found.
    private func failure(of chain: [Data], _ found: Failure?, _ given: GivenCertificates) -> Failure? {
        if found == .invalidSignature || found == .malformed { return found }
        var certificates = chain.compactMap(given.certificate)
        guard certificates.count == chain.count else { return found ?? .malformed }
        if found == .incomplete, let last = certificates.last {
            // libcrypto passes over an authority with an extension that it cannot read, or that is there twice.
            certificates += given.certificates(of: last.issuer).filter {
                $0.path.isUnreadable || $0.path.isRepeated
            }
        }
        var rules = PathRules(chain: certificates)
        switch purpose {
        case .any: break
        case .client: rules.side = .client
        case .server(let host):
            rules.side = .server
            rules.host = host.flatMap { Self.name(of: $0) }
            rules.isPublicSuffix = PublicSuffixes.contains
        }
        rules.isSystemAnchored = chain.last.map { !anchors.contains($0) } ?? false
        let violation = rules.violation()
        switch (found, violation) {
        // libcrypto says less of these than the rules do.
        case (nil, let violation?), (.rule, let violation?), (.other, let violation?): return .rule(violation)
        case (_, .unreadableExtension?), (_, .repeatedExtension?): return violation.map(Failure.rule)
        default: return found
        }
    }

    /// Returns the name of a host without the dot at its end, or nil if it is an address.
    private static func name(of host: String) -> String? {
        let bare = host.hasSuffix(".") ? String(host.dropLast()) : host
        var address = in6_addr()
        let isAddress = bare.contains(":") || inet_pton(AF_INET, bare, &address) == 1
        return isAddress ? nil : bare
    }

    /// - Returns: False if the host name is not valid.
    private func configure(_ paths: PathFunctions, _ parameters: LibcryptoContext.Object?) -> Bool {
        // X509_V_FLAG_PARTIAL_CHAIN: any anchor ends the path, as on Apple systems, not only a self-signed one.
        // X509_V_FLAG_TRUSTED_FIRST: the shortest path to an anchor. X509_V_FLAG_X509_STRICT is not set, because it
        // rejects certificates that other software accepts. X509_V_FLAG_POLICY_CHECK: the policies of RFC 5280, 6.1.
        // X509_V_FLAG_IGNORE_CRITICAL: PathRules decides that, which asks nothing of anchors.
        _ = paths.setFlags(parameters, 0x80000 | 0x8000 | 0x80 | 0x10)
        // anyPolicy (RFC 5280, 4.2.1.4): every policy will do.
        _ = paths.addPolicy(parameters, paths.makeIdentifier("2.5.29.32.0", 1))
        paths.setTime(parameters, LibcryptoContext.seconds(date))
        paths.setDepth(parameters, 32)
        // X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS and X509_CHECK_FLAG_NEVER_CHECK_SUBJECT: since RFC 6125, the common name
        // is not a host name (Apple: iOS 13, "Requirements for trusted certificates"). So what constrains the names of
        // hosts does not constrain it either.
        paths.setHostFlags(parameters, 0x4 | 0x20)
        // PathRules judges what the certificates may be used for. libcrypto would also ask keyUsage of a server's
        // certificate, and the uses of an anchor.
        // Level 1 means 80 bits of security. Level 2 means 112 bits: RSA from 2048 bits, no SHA-1
        // (SSL_CTX_set_security_level(3)).
        switch purpose {
        case .any:
            paths.setSecurityLevel(parameters, 1)
        case .client:
            paths.setSecurityLevel(parameters, 2)
        case .server(let host):
            paths.setSecurityLevel(parameters, 2)
            guard let host else { return true }
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
            case 18, 19: .noAnchor
            case 2, 20, 21, 27: .incomplete
            case 66, 67: .weakKey
            case 68: .weakSignature
            case 4, 5, 7, 8: .invalidSignature
            case 24, 79: .rule(.notAuthority)
            case 32: .rule(.wrongKeyUsage)
            case 41: .rule(.unreadableExtension)
            case 22, 25: .pathTooLong
            case 23: .revoked
            case 6, 13, 14: .malformed
            case 34: .rule(.unknownCriticalExtension)
            case 42, 43: .policies
            case 47, 48, 49, 51, 52, 53: .nameConstraints
            default: .other(code: code)
            }
    }
}

/// Certificates that are given to a search, as libcrypto's objects.
private final class GivenCertificates {
    private let crypto: LibcryptoContext
    private var objects: [Data: LibcryptoContext.Object] = [:]
    /// What was read: the certificates themselves, and anchors of the system that a path led to.
    private var read: [Data: Certificate] = [:]
    /// The certificates of each subject.
    private var bySubject: [Data: [Certificate]] = [:]

    init(_ certificates: some Sequence<Data>, _ crypto: LibcryptoContext) {
        self.crypto = crypto
        for der in certificates where objects[der] == nil {
            // What cannot be read is no part of a path.
            guard let object = crypto.certificate(der) else { continue }
            objects[der] = object
            guard let certificate = self.certificate(der) else { continue }
            bySubject[certificate.subject.normalizedContent, default: []].append(certificate)
        }
    }

    deinit {
        for object in objects.values { crypto.certificates.free(object) }
    }

    func object(of der: Data) -> LibcryptoContext.Object? { objects[der] }

    /// Whether another of the certificates has the same subject.
    func hasOther(like der: Data) -> Bool {
        guard let subject = certificate(der)?.subject else { return false }
        return certificates(of: subject).contains { $0.encoded != der }
    }

    /// Reads a certificate once.
    func certificate(_ der: Data) -> Certificate? {
        if let known = read[der] { return known }
        let certificate = try? Certificate(der: der)
        read[der] = certificate
        return certificate
    }

    func certificates(of subject: DistinguishedName) -> [Certificate] { bySubject[subject.normalizedContent] ?? [] }
}

/// Anchors, as libcrypto has them.
final class TrustStore {
    let object: LibcryptoContext.Object
    private let crypto: LibcryptoContext

    init(_ crypto: LibcryptoContext) throws(LibcryptoFailure) {
        guard let object = crypto.paths.makeStore() else { throw .memory }
        self.object = object
        self.crypto = crypto
    }

    deinit { crypto.paths.freeStore(object) }
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
