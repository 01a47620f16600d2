import FoundationEssentials

/// Where the carriers of a circle meet, as a vault remembers it: `folder:/home/alice/Sync`, or `etcd:` and the
/// addresses of nodes, separated by commas.
package enum CircleLocation: Sendable, Equatable {
    /// A folder that something else brings to all machines.
    case folder(String)
    /// The nodes of a cluster of etcd.
    case etcd([String])

    private static let folderScheme = "folder:"
    private static let etcdScheme = "etcd:"

    /// - Returns: Nil for a text that names no such place.
    package init?(_ text: String) {
        if text.hasPrefix(Self.folderScheme) {
            self = .folder(String(text.dropFirst(Self.folderScheme.count)))
        } else if text.hasPrefix(Self.etcdScheme) {
            self = .etcd(text.dropFirst(Self.etcdScheme.count).split(separator: ",").map(String.init))
        } else {
            return nil
        }
    }

    /// An address of a node of etcd in its plain form, such as `https://etcd-1:2379`.
    ///
    /// - Returns: Nil unless it has the scheme http or https, a host, and at most a port besides.
    package static func endpoint(_ text: String) -> String? {
        guard let url = URLComponents(string: text), let scheme = url.scheme?.lowercased(),
            ["http", "https"].contains(scheme), let host = url.host, !host.isEmpty, url.user == nil,
            url.password == nil, url.query == nil, url.fragment == nil, ["", "/"].contains(url.path),
            url.port.map({ (1...65_535).contains($0) }) ?? true, !host.contains(",")
        else { return nil }
        return "\(scheme)://\(host)" + (url.port.map { ":\($0)" } ?? "")
    }

    package var text: String {
        switch self {
        case .folder(let path): Self.folderScheme + path
        case .etcd(let endpoints): Self.etcdScheme + endpoints.joined(separator: ",")
        }
    }

    /// Whether two places are of one kind: then what was handed on to one is in the other, too, once it was moved.
    package func isSameKind(as other: CircleLocation) -> Bool {
        switch (self, other) {
        case (.folder, .folder), (.etcd, .etcd): true
        default: false
        }
    }
}
