import Certificates
import CommandKit
import FoundationEssentials
import OnlineChecks
import TrustSettings

/// `verify-cert`.
struct VerifyCertificate: SecuritySubcommand {
    let grammar = ShortOptions.Grammar(flags: "ClLNqPtvh", values: "crpkesdR", optional: "n")
    let usage =
        "[-c certFile] ... [-r rootCertFile] ... [-p ssl|basic|smime|codeSign|eap|IPSec|...] [-C] [-k keychain] ... "
        + "[-n name | -s host | -e address] [-d date] [-l] [-L] [-N] [-q] [-R ocsp|crl|require|offline] ..."

    func run(_ options: ShortOptions, _ tool: SecurityTool) throws {
        guard options.operands.isEmpty else {
            throw SecurityFailure.other(
                "verify-cert asks no servers for their certificates: fetch them with `openssl s_client -showcerts`, and "
                    + "name the file with -c")
        }
        let roots = try options.values("r").flatMap(CertificateFile.read)
        var certificates = try options.values("c").flatMap(CertificateFile.read)
        if certificates.isEmpty {
            guard let root = roots.first, roots.count == 1 else { throw SecurityFailure.usage("name a file with -c") }
            certificates = [root]
        }
        let text = options.value("n") ?? options.value("s") ?? options.value("e")
        guard
            let use = CertificateUse(options.value("p") ?? "basic", text: text, isClient: options.contains("C"))
        else { throw SecurityFailure.usage("-p takes \(UserTrust.Policy.names)") }
        let noKeychains = options.contains("N") || options.options.contains { $0.letter == "n" && $0.value == nil }
        let keychains = try noKeychains ? [] : tool.searched(options.values("k"))
        var check = TrustCheck(certificates: certificates.map(\.encoded), use: use)
        check.certificates += try keychains.flatMap { try $0.certificates().map(\.der) }
        if !roots.isEmpty { check.anchors = roots.map(\.encoded) }
        if let date = options.value("d") { check.date = try Self.date(date) }
        check.fetches = !options.contains("L")
        for name in options.values("R") {
            switch name {
            case "ocsp": check.revocation.insert(.responders)
            case "crl": check.revocation.insert(.lists)
            case "online": check.revocation.formUnion([.responders, .lists])
            case "require": check.requiresAnswer = true
            case "offline": check.isOffline = true
            default: throw SecurityFailure.usage("-R takes ocsp, crl, require, offline or online")
            }
        }
        let verdict = try check.verdict()
        let isQuiet = options.contains("q")
        guard let name = verdict.name else {
            return isQuiet ? () : try tool.print("...certificate verification successful.")
        }
        if !isQuiet {
            tool.complain(
                plain: verdict == .denied
                    ? "SecTrustEvaluate result: kSecTrustResultDeny" : "Cert Verify Result: \(name)")
        }
        throw SecurityFailure.reported
    }

    /// Reads a date in the forms that macOS takes, in UTC.
    private static func date(_ text: String) throws -> Date {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        let time = parts.count == 4 ? parts[3] : "00:00:00"
        guard (3...4).contains(parts.count),
            let date = try? Date("\(parts[0])-\(parts[1])-\(parts[2])T\(time)Z", strategy: .iso8601)
        else { throw SecurityFailure.usage("-d takes a date like 2030-12-31 or 2030-12-31-23:59:59") }
        return date
    }
}

extension UserTrust.Policy {
    /// What `-p` takes.
    static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }
}
