import Bytes
import OpenSSLCertificates
import PasswordCommands

/// The site of a web page: what its address says up to the path.
struct PageAddress: Hashable {
    /// `https` or `http`.
    let scheme: String
    /// In small letters of ASCII.
    let host: String
    /// Also if it is the scheme's own.
    let port: Int64

    /// The longest host in bytes (RFC 1035).
    private static let longestHost = 253

    /// Returns nil if the text is not the address of a web page, such as that of a file.
    init?(_ url: String) {
        guard url.utf8.count <= 1 << 16, let colon = url.firstRange(of: "://") else { return nil }
        let authority = url[colon.upperBound...].unicodeScalars.prefix { !"/?#\\".unicodeScalars.contains($0) }
        guard let address = InternetAddress(String(url[..<colon.upperBound]) + String(authority)) else { return nil }
        self.init(address)
    }

    /// Returns nil for an address without a scheme, or with a scheme other than those of web pages.
    init?(_ address: InternetAddress) {
        guard let scheme = address.scheme, let own = Self.ports[scheme] else { return nil }
        let host = HostName.ascii(address.host)
        // What stays in other letters is no name, not even one below a site's.
        guard (1...Self.longestHost).contains(host.utf8.count), host.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        (self.scheme, self.host, port) = (scheme, host, address.port ?? own)
    }

    private static let ports: [String: Int64] = ["https": 443, "http": 80]

    private var hasOwnPort: Bool { Self.ports[scheme] == port }

    /// As people and browsers write it, such as `https://example.org:8443`.
    var text: String { "\(scheme)://\(host)" + (hasOwnPort ? "" : ":\(port)") }

    /// The address under which a new login of the page is kept.
    func internetAddress(account: String) -> InternetAddress {
        InternetAddress(scheme: scheme, host: host, port: hasOwnPort ? nil : port, account: account)
    }

    // MARK: Logins of the page

    /// How far a stored address is from the page: 0 for the page's own site, 1 for the same host without encryption,
    /// and 2 more for each label that the page's host has besides.
    ///
    /// - Returns: Nil if a login with that address must not go to the page.
    func distance(to stored: InternetAddress) -> Int? {
        // Who wrote no scheme meant the web as it is, which is encrypted.
        var stored = stored
        stored.scheme = stored.scheme ?? "https"
        guard let other = PageAddress(stored), isAllowed(other) else { return nil }
        guard let labels = host == other.host ? 0 : labels(below: other.host) else { return nil }
        return 2 * labels + (scheme == other.scheme ? 0 : 1)
    }

    /// A login for an encrypted page never goes to one that is not. The other way is what sites do when they move.
    private func isAllowed(_ stored: PageAddress) -> Bool {
        guard stored.scheme == scheme || scheme == "https" else { return false }
        return stored.port == port || stored.scheme != scheme && stored.hasOwnPort && hasOwnPort
    }

    /// Returns how many labels the page's host has before `parent`; nil if that is no parent, or if the names between
    /// them may belong to different people.
    private func labels(below parent: String) -> Int? {
        guard host.hasSuffix("." + parent), !isNumeric else { return nil }
        var name = Substring(host)
        var count = 0
        while true {
            guard !PublicSuffixes.isShared(String(name)) else { return nil }
            if name == parent { return count }
            guard let dot = name.firstIndex(of: "."), count < Self.longestHost else { return nil }
            name = name[name.index(after: dot)...]
            count += 1
        }
    }

    /// Whether the host is an address of IPv4 or IPv6, which has no parents.
    private var isNumeric: Bool {
        host.contains(":") || host.split(separator: ".").last?.utf8.allSatisfy { (0x30...0x39).contains($0) } ?? true
    }
}
