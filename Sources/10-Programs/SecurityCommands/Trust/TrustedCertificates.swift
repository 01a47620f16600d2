import Certificates
import CommandKit
import FoundationEssentials
import StatusCodes
import TrustSettings

/// `add-trusted-cert`.
struct AddTrustedCertificate: SecuritySubcommand {
    let grammar = ShortOptions.Grammar(flags: "dh", values: "rpsaeukio")
    let usage = "[-r trustRoot|trustAsRoot|deny|unspecified] [-p policy] ... [-s host] ... [-k keychain] certFile"

    private static let operation = "SecTrustSettingsSetTrustSettings"

    func run(_ options: ShortOptions, _ tool: SecurityTool) throws {
        guard let path = options.operands.first, options.operands.count == 1 else {
            throw SecurityFailure.usage("No cert file specified.")
        }
        try TrustDomain.requireUser(options, Self.operation)
        for letter in "aeuio" where options.contains(letter) {
            throw SecurityFailure.other(
                "\(Self.operation): -\(letter) is not here: a certificate is trusted for policies and hosts")
        }
        guard let result = UserTrust.Result(rawValue: options.value("r") ?? "trustRoot") else {
            throw SecurityFailure.usage("-r takes trustRoot, trustAsRoot, deny or unspecified")
        }
        let policies = try options.values("p").map { name in
            guard let policy = UserTrust.Policy(rawValue: name) else {
                throw SecurityFailure.usage("-p takes \(UserTrust.Policy.names)")
            }
            return policy
        }
        let certificates = try CertificateFile.read(path)
        guard let certificate = certificates.first, certificates.count == 1 else {
            throw SecurityFailure.other(
                "\(path.escapedForTerminal) has \(certificates.count) certificates: name a file with one")
        }
        let signedItself = certificate.subject.normalizedContent == certificate.issuer.normalizedContent
        guard signedItself || result != .trustRoot else {
            throw SecurityFailure.operation(
                Self.operation, status: errSecParam,
                reason: "the certificate did not sign itself: say -r trustAsRoot to trust it without its issuer")
        }
        if let name = options.value("k") { _ = try tool.keychain(name).add(certificate) }
        let hosts: [String?] = options.values("s").isEmpty ? [nil] : options.values("s")
        let settings = (policies.isEmpty ? [nil] : policies.map(Optional.some)).flatMap { policy in
            hosts.map { UserTrust.Setting(policy: policy, host: $0, result: result) }
        }
        try UserTrust.change { $0.set(settings, for: certificate.encoded) }
    }
}

/// `remove-trusted-cert`.
struct RemoveTrustedCertificate: SecuritySubcommand {
    let grammar = ShortOptions.Grammar(flags: "dh")
    let usage = "certFile"

    private static let operation = "SecTrustSettingsRemoveTrustSettings"

    func run(_ options: ShortOptions, _ tool: SecurityTool) throws {
        guard let path = options.operands.first, options.operands.count == 1 else {
            throw SecurityFailure.usage("No cert file specified.")
        }
        try TrustDomain.requireUser(options, Self.operation)
        let certificates = try CertificateFile.read(path)
        var wasThere = false
        try UserTrust.change { trust in
            for certificate in certificates where trust.remove(certificate.encoded) { wasThere = true }
        }
        guard wasThere else {
            tool.complain(plain: "\(Self.operation): \(SecurityWords.text(for: errSecItemNotFound))")
            throw SecurityFailure.reported
        }
    }
}

/// `dump-trust-settings`.
struct DumpTrustSettings: SecuritySubcommand {
    let grammar = ShortOptions.Grammar(flags: "sdh")
    let usage = "[-s] [-d]"

    func run(_ options: ShortOptions, _ tool: SecurityTool) throws {
        guard options.operands.isEmpty else { throw SecurityFailure.usage("there is nothing to name") }
        if options.contains("s") {
            throw SecurityFailure.other(
                "SecTrustSettingsCopyCertificates: the system's certificates are in /etc/ssl/certs, without settings")
        }
        let trust = try options.contains("d") ? nil : UserTrust.read()
        guard let trust, !trust.entries.isEmpty else {
            tool.complain(plain: "SecTrustSettingsCopyCertificates: \(SecurityWords.text(for: errSecNoTrustSettings))")
            throw SecurityFailure.reported
        }
        try tool.print("Number of trusted certs = \(trust.entries.count)")
        for (index, entry) in trust.entries.enumerated() {
            let name = (try? Certificate(der: entry.certificate))?.subjectSummary ?? "<unknown>"
            try tool.print("Cert \(index): \(name.escapedForTerminal)")
            try tool.print("   Number of trust settings : \(entry.settings.count)")
            for (number, setting) in entry.settings.enumerated() {
                try tool.print("   Trust Setting \(number):")
                if let policy = setting.policy { try tool.print("      Policy                : \(policy.rawValue)") }
                if let host = setting.host {
                    try tool.print("      Policy String         : \(host.escapedForTerminal)")
                }
                try tool.print("      Result Type           : \(setting.result.title)")
            }
        }
    }
}

/// The domain of settings of trust: of the user, or of all users.
private enum TrustDomain {
    static func requireUser(_ options: ShortOptions, _ operation: String) throws {
        guard options.contains("d") else { return }
        throw SecurityFailure.other(
            "\(operation): what all users trust is the system's: put the certificate into "
                + "/usr/local/share/ca-certificates, and run update-ca-certificates. Without -d the settings are yours")
    }
}

extension UserTrust.Result {
    /// In the words of macOS.
    fileprivate var title: String {
        switch self {
        case .trustRoot: "kSecTrustSettingsResultTrustRoot"
        case .trustAsRoot: "kSecTrustSettingsResultTrustAsRoot"
        case .deny: "kSecTrustSettingsResultDeny"
        case .unspecified: "kSecTrustSettingsResultUnspecified"
        }
    }
}
