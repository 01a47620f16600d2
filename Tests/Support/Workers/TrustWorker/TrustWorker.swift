import Foundation
import KeychainServices

/// Asks whether a TLS server's certificate is trusted below the anchors of the system, which `SSL_CERT_FILE` names
/// for this process alone. Says the status, and 1 if public logs list the certificate.
@main struct TrustWorker {
    /// Host, the moment of the evaluation in seconds since 1970, the files of certificates (DER) with commas between
    /// them, and those of logs' keys (DER) if logs are to count.
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 4, let moment = Double(arguments[2]) else { exit(64) }
        let certificates = try arguments[3].split(separator: ",").compactMap { path in
            SecCertificateCreateWithData(nil, try read(String(path)))
        }
        var created: SecTrust?
        let policy = SecPolicyCreateSSL(true, arguments[1] as NSString)
        guard SecTrustCreateWithCertificates(certificates as NSArray, policy, &created) == errSecSuccess,
            let trust = created
        else { exit(65) }
        _ = SecTrustSetVerifyDate(trust, Date(timeIntervalSince1970: moment) as NSDate)
        if arguments.count > 4 {
            let logs = try arguments[4].split(separator: ",").map { try read(String($0)) }
            guard SecTrustSetTrustedLogs(trust, logs as NSArray) == errSecSuccess else { exit(66) }
        }
        var error: CFError?
        _ = SecTrustEvaluateWithError(trust, &error)
        let isListed = SecTrustCopyResult(trust)?[kSecTrustCertificateTransparency] as? NSNumber
        print(error?.code ?? 0, isListed ?? 0)
    }

    private static func read(_ path: String) throws -> NSData { try Data(contentsOf: URL(filePath: path)) as NSData }
}
