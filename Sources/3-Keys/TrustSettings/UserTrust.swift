import Bytes
import Certificates
import FoundationEssentials
import OpenSSLCertificates
import PrivateFiles

/// The user's settings of trust: for each certificate, for which uses it ends a path, or must not be on one.
package struct UserTrust: Codable, Equatable, Sendable {
    /// What a setting says (Apple, SecTrustSettings.h).
    package enum Result: String, Codable, Sendable, CaseIterable {
        /// The certificate, which signed itself, ends a path.
        case trustRoot
        /// The certificate ends a path, although another one signed it.
        case trustAsRoot
        /// No path with the certificate is trusted.
        case deny
        /// Nothing.
        case unspecified
    }

    /// A use of certificates, by the name that `security` has for it.
    package enum Policy: String, Codable, Sendable, CaseIterable {
        case ssl, basic, smime, codeSign, eap
        case ipSec = "IPSec"
        case iChat, swUpdate, pkgSign
        case timestamping, pkinitClient, pkinitServer
        case appleID = "AppleID"
        case macappstore
    }

    package struct Setting: Codable, Equatable, Sendable {
        /// Nil for every use.
        package var policy: Policy?
        /// The host of the connection; nil for every host.
        package var host: String?
        package var result: Result

        package init(policy: Policy?, host: String?, result: Result) {
            (self.policy, self.host, self.result) = (policy, host, result)
        }

        fileprivate func isFor(_ purpose: CertificatePath.Purpose, _ asked: Policy) -> Bool {
            guard policy == nil || policy == asked else { return false }
            guard let host else { return true }
            guard case .server(let name?) = purpose else { return false }
            return name.lowercased() == host.lowercased()
        }
    }

    package struct Entry: Codable, Equatable, Sendable {
        /// DER.
        package var certificate: Data
        package var settings: [Setting]
    }

    package private(set) var entries: [Entry] = []

    private static let file = "trust-settings"
    private static let largest = 16 << 20

    private init() {}

    // MARK: The file

    /// Reads the settings of the user; none if there are none.
    ///
    /// - Throws: If the file is there and cannot be read: it may forbid a certificate.
    package static func read() throws -> UserTrust {
        guard let path = try? KeychainsFolder.standard() else { return UserTrust() }
        do {
            return try read(PrivateFolder(existing: path))
        } catch FileError.notFound {
            return UserTrust()
        }
    }

    private static func read(_ folder: PrivateFolder) throws -> UserTrust {
        guard folder.contains(file) else { return UserTrust() }
        let contents = try folder.read(file, limit: largest)
        guard let trust = try? JSONDecoder().decode(UserTrust.self, from: contents) else {
            throw Damaged(path: folder.path(of: file))
        }
        return trust
    }

    /// Runs `body`, which may change the settings, while no other process does.
    package static func change(_ body: (inout UserTrust) throws -> Void) throws {
        let folder = try PrivateFolder(creating: KeychainsFolder.standard())
        try folder.withLock {
            let before = try read(folder)
            var trust = before
            try body(&trust)
            if trust != before { try folder.replace(file, with: JSONEncoder().encode(trust)) }
        }
    }

    package struct Damaged: Error, CustomStringConvertible {
        package let path: String
        package var description: String {
            "the trust settings in \(path) are damaged: delete the file, and add the certificates again"
        }
    }

    // MARK: Settings

    package mutating func set(_ settings: [Setting], for certificate: Data) {
        _ = remove(certificate)
        entries.append(Entry(certificate: certificate, settings: settings))
    }

    /// - Returns: False if there are no settings for the certificate.
    package mutating func remove(_ certificate: Data) -> Bool {
        let count = entries.count
        entries.removeAll { $0.certificate == certificate }
        return entries.count < count
    }

    /// The certificates that end a path for this use.
    package func anchors(for purpose: CertificatePath.Purpose, _ policy: Policy? = nil) -> [Data] {
        certificates(purpose, policy) { [.trustRoot, .trustAsRoot].contains($0) }
    }

    /// The certificates that must not be on a path for this use.
    package func denied(for purpose: CertificatePath.Purpose, _ policy: Policy? = nil) -> Set<Data> {
        Set(certificates(purpose, policy) { $0 == .deny })
    }

    /// The first setting for the use is the one that counts.
    private func certificates(
        _ purpose: CertificatePath.Purpose, _ policy: Policy?, where isMeant: (Result) -> Bool
    ) -> [Data] {
        let asked = policy ?? (purpose == .any ? .basic : .ssl)
        return entries.filter { entry in
            entry.settings.first { $0.isFor(purpose, asked) }.map { isMeant($0.result) } ?? false
        }.map(\.certificate)
    }
}
