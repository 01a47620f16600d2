import Bytes
import Foundation
import KeychainModel

/// Where an internet password is used.
///
/// Host, protocol, port, path, security domain and authentication type together tell internet passwords
/// apart; a part that is not given is stored as empty, and finds only items where it is empty.
///
/// ```swift
/// let keychain = Keychain(server: InternetServer(host: "smtp.example.com", protocol: .smtp, port: 587))
/// guard let server = InternetServer(url: repositoryURL) else { return }
/// ```
public struct InternetServer: Sendable, Hashable {
    /// The domain name or address (`kSecAttrServer`). Compared byte for byte.
    public var host: String
    /// The protocol (`kSecAttrProtocol`).
    public var `protocol`: NetworkProtocol?
    /// The port, 1 to 65535 (`kSecAttrPort`).
    public var port: Int?
    /// The path on the server (`kSecAttrPath`).
    public var path: String
    /// The realm of the authentication (`kSecAttrSecurityDomain`).
    public var securityDomain: String
    /// How the password is sent (`kSecAttrAuthenticationType`).
    public var authenticationType: AuthenticationType?

    /// A server from its parts.
    public init(
        host: String, protocol: NetworkProtocol? = nil, port: Int? = nil, path: String = "",
        securityDomain: String = "", authenticationType: AuthenticationType? = nil
    ) {
        self.host = host
        self.protocol = `protocol`
        self.port = port
        self.path = path
        self.securityDomain = securityDomain
        self.authenticationType = authenticationType
    }

    /// The host, protocol, port and path of a URL, or nil for a URL without a host.
    ///
    /// A user or password in the URL is ignored, as are query and fragment. A scheme that has no
    /// ``NetworkProtocol`` leaves the protocol empty.
    public init?(url: URL) {
        guard let host = url.host, !host.isEmpty else { return nil }
        self.init(
            host: host, protocol: url.scheme.flatMap(NetworkProtocol.init(scheme:)), port: url.port, path: url.path)
    }

    /// A network protocol, by the four-character name Apple's keychain stores.
    public struct NetworkProtocol: RawRepresentable, Sendable, Hashable {
        /// The four characters, such as `htps`.
        public var rawValue: String

        /// The protocol with this four-character name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// FTP (`kSecAttrProtocolFTP`).
        public static let ftp = NetworkProtocol(rawValue: "ftp ")
        /// FTP over TLS (`kSecAttrProtocolFTPS`).
        public static let ftps = NetworkProtocol(rawValue: "ftps")
        /// HTTP (`kSecAttrProtocolHTTP`).
        public static let http = NetworkProtocol(rawValue: "http")
        /// HTTP over TLS (`kSecAttrProtocolHTTPS`).
        public static let https = NetworkProtocol(rawValue: "htps")
        /// A proxy for HTTP (`kSecAttrProtocolHTTPProxy`).
        public static let httpProxy = NetworkProtocol(rawValue: "htpx")
        /// A proxy for HTTPS (`kSecAttrProtocolHTTPSProxy`).
        public static let httpsProxy = NetworkProtocol(rawValue: "htsx")
        /// IMAP (`kSecAttrProtocolIMAP`).
        public static let imap = NetworkProtocol(rawValue: "imap")
        /// IMAP over TLS (`kSecAttrProtocolIMAPS`).
        public static let imaps = NetworkProtocol(rawValue: "imps")
        /// LDAP (`kSecAttrProtocolLDAP`).
        public static let ldap = NetworkProtocol(rawValue: "ldap")
        /// LDAP over TLS (`kSecAttrProtocolLDAPS`).
        public static let ldaps = NetworkProtocol(rawValue: "ldps")
        /// POP3 (`kSecAttrProtocolPOP3`).
        public static let pop3 = NetworkProtocol(rawValue: "pop3")
        /// POP3 over TLS (`kSecAttrProtocolPOP3S`).
        public static let pop3s = NetworkProtocol(rawValue: "pops")
        /// SMB (`kSecAttrProtocolSMB`).
        public static let smb = NetworkProtocol(rawValue: "smb ")
        /// SMTP (`kSecAttrProtocolSMTP`).
        public static let smtp = NetworkProtocol(rawValue: "smtp")
        /// SOCKS (`kSecAttrProtocolSOCKS`).
        public static let socks = NetworkProtocol(rawValue: "sox ")
        /// SSH (`kSecAttrProtocolSSH`).
        public static let ssh = NetworkProtocol(rawValue: "ssh ")

        private static let schemes: [String: NetworkProtocol] = [
            "ftp": .ftp, "ftps": .ftps, "http": .http, "https": .https, "imap": .imap, "imaps": .imaps,
            "ldap": .ldap, "ldaps": .ldaps, "pop3": .pop3, "pop": .pop3, "pop3s": .pop3s, "smb": .smb,
            "smtp": .smtp, "socks": .socks, "socks5": .socks, "ssh": .ssh, "sftp": .ssh,
        ]

        /// The protocol that a URL scheme names, case ignored, or nil.
        public init?(scheme: String) {
            guard let found = Self.schemes[scheme.lowercased()] else { return nil }
            self = found
        }
    }

    /// How a password is sent to the server, by the four-character name Apple's keychain stores.
    public struct AuthenticationType: RawRepresentable, Sendable, Hashable {
        /// The four characters, such as `form`.
        public var rawValue: String

        /// The type with this four-character name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The protocol's own way (`kSecAttrAuthenticationTypeDefault`).
        public static let `default` = AuthenticationType(rawValue: "dflt")
        /// A form on a web page (`kSecAttrAuthenticationTypeHTMLForm`).
        public static let htmlForm = AuthenticationType(rawValue: "form")
        /// HTTP Basic (`kSecAttrAuthenticationTypeHTTPBasic`).
        public static let httpBasic = AuthenticationType(rawValue: "http")
        /// HTTP Digest (`kSecAttrAuthenticationTypeHTTPDigest`).
        public static let httpDigest = AuthenticationType(rawValue: "httd")
        /// NTLM (`kSecAttrAuthenticationTypeNTLM`).
        public static let ntlm = AuthenticationType(rawValue: "ntlm")
    }
}

extension InternetServer {
    /// Every part that tells internet passwords apart, with the schema's default where none was given.
    var attributes: ItemAttributes {
        [
            .server: .string(host),
            .networkProtocol: `protocol`.map { .string($0.rawValue) } ?? .number(0),
            .port: .number(Int64(port ?? 0)),
            .path: .string(path),
            .securityDomain: .string(securityDomain),
            .authenticationType: .string(authenticationType?.rawValue ?? ""),
        ]
    }

    init(_ item: StoredItem) {
        self.init(
            host: item.text(.server) ?? "",
            protocol: item.text(.networkProtocol).map(NetworkProtocol.init(rawValue:)),
            port: item.number(.port).flatMap { $0 == 0 ? nil : Int($0) },
            path: item.text(.path) ?? "",
            securityDomain: item.text(.securityDomain) ?? "",
            authenticationType: item.text(.authenticationType).flatMap {
                $0.isEmpty ? nil : AuthenticationType(rawValue: $0)
            })
    }
}
