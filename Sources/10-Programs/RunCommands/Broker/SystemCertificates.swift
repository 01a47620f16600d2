import SystemLibraries

/// The certificates of the authorities that programs of this machine trust.
enum SystemCertificates {
    /// Where systems have the one file with all of them: Debian and its kin, Fedora and its kin, Alpine and OpenBSD.
    static let places = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem",
    ]

    /// In PEM; empty if there is no such file.
    static func text() -> String {
        for place in [Environment.value(of: "SSL_CERT_FILE")].compactMap(\.self) + places {
            if let bytes = try? RunInput.read(place) { return String(decoding: bytes, as: UTF8.self) + "\n" }
        }
        return ""
    }
}
