import Foundation
import KeychainServices
import TestSupport
import Testing

/// A path with what Apple's systems, as this package follows them, and OpenSSL say of it.
struct PathCase: Sendable, CustomTestStringConvertible {
    /// The policy of an evaluation.
    enum Policy: Hashable, Sendable {
        case basic, client
        case server(String?)
    }

    /// A certificate of the case.
    struct Member: Sendable {
        var name: String
        /// The member that signs it; nil for itself.
        var issuer: String?
        /// The attributes of the subject; nil for one with the name and the number of the case.
        var subject: [String]?
        /// The member whose subject it has; nil for its own.
        var namesake: String?
        /// The number of its key; nil for one that belongs to the name of the subject.
        var key: UInt8?
        /// DER of a public key, in place of that.
        var publicKey: Data?
        var extensions: [MadeExtension]
        var validity = PathTable.validity
        /// Changes the certificate before it is signed.
        var change: (@Sendable (inout MadeCertificate) -> Void)?
    }

    let name: String
    var members: [Member]
    /// The names of the certificates that the program gives, the one in question first.
    var given: [String]
    var anchors = ["root"]
    var policy = Policy.server("example.com")
    /// What Apple's status is.
    let status: OSStatus
    /// Why OpenSSL's program says something else; nil if it does not.
    let difference: PathDifference?
    /// When the certificates are to be valid.
    var date = PathTable.date
    /// Its place in the table.
    var number = 0

    var testDescription: String { name }

    /// A path of a root, an authority and a certificate.
    ///
    /// - Parameters:
    ///   - middle: Nil for a path without an authority in the middle.
    ///   - change: Changes the certificate in question.
    init(
        _ name: String, root: [MadeExtension] = PathTable.authority, middle: [MadeExtension]? = PathTable.authority,
        leaf: [MadeExtension] = PathTable.leaf, policy: Policy = .server("example.com"), _ status: OSStatus,
        _ difference: PathDifference? = nil, change: (@Sendable (inout MadeCertificate) -> Void)? = nil
    ) {
        (self.name, self.policy, self.status, self.difference) = (name, policy, status, difference)
        members = [Member(name: "root", extensions: root)]
        if let middle { members.append(Member(name: "middle", issuer: "root", extensions: middle)) }
        members.append(
            Member(name: "leaf", issuer: middle == nil ? "root" : "middle", extensions: leaf, change: change))
        given = middle == nil ? ["leaf"] : ["leaf", "middle"]
    }

    /// A path of other members.
    init(
        _ name: String, _ members: [Member], given: [String], anchors: [String] = ["root"],
        policy: Policy = .server("example.com"), _ status: OSStatus, _ difference: PathDifference? = nil
    ) {
        (self.name, self.members, self.given, self.anchors) = (name, members, given, anchors)
        (self.policy, self.status, self.difference) = (policy, status, difference)
    }

    /// A path whose certificate in question has this public key.
    init(_ name: String, key: String, policy: Policy, _ status: OSStatus, _ difference: PathDifference? = nil) {
        self.init(name, middle: nil, policy: policy, status, difference) { leaf in
            leaf.publicKey = Data(base64Encoded: key) ?? Data()
        }
    }

    /// The same at another time.
    func at(_ date: Date) -> PathCase {
        var copy = self
        copy.date = date
        return copy
    }
}

/// Why OpenSSL's program judges a path in another way. `Documentation/Specify/Trust.md` lists these.
enum PathDifference: String, CaseIterable, Sendable {
    case form = "extensions that OpenSSL does not read"
    case anchorForm = "an anchor that does not follow RFC 5280"
    case critical = "critical extensions that Apple's systems know"
    case anchorCritical = "critical extensions of an anchor"
    case subject = "certificates without a subject"
    case serverUse = "TLS servers that do not say that they are"
    case use = "uses of authorities and anchors"
    case keyUsage = "keyUsage of the certificate in question"
    case validity = "TLS servers that are valid for too long"
    case lastSecond = "the second at which a certificate ends"
    case key = "kinds of keys that Apple's systems do not know"
    case smallCurve = "P-224 keys of TLS servers and their authorities"
    case publicSuffix = "wildcards below public suffixes"
    case commonName = "common names"
    case hostConstraint = "hosts behind a wildcard that are excluded"
    case mail = "the first `@` of a mail address"
    case constraintKind = "critical constraints of names that nobody compares"
    case partialWildcard = "wildcards for a part of a label"
    case otherPath = "other paths than the first"
    case anchorSignature = "signatures of anchors"
    case keyForm = "keys in a form that Apple's systems do not read"
    case hostForm = "names of hosts that no host can have"
    case keySize = "sizes of RSA keys"
    case hostDot = "a dot at the end of the host's name"
    case limit = "more in an extension than Apple's systems read"
}

/// The table of paths.
enum PathTable {
    static let cases: [PathCase] = {
        let families = [
            authorities, lengths, uses, forms, criticals, subjects, policies, hosts, hostConstraints, otherConstraints,
            validities, keys, keyNames, signatures, otherPaths, hostForms, keyForms, anchorSignatures, statements,
            knownCriticals, limits, profiles,
        ]
        return families.flatMap { $0 }.enumerated().map { number, entry in
            var entry = entry
            entry.number = number
            return entry
        }
    }()

    /// 1 June 2026, 12:00 UTC: the time of the evaluations.
    static let date = Date(timeIntervalSince1970: 1_780_315_200)
    static let day = 86_400.0
    static let validity = (from: date - 10 * day, to: date + 80 * day)
    static let authority = [MadeExtension.authority(), .usage(.certificates, .lists)]
    static let leaf = [MadeExtension.names(.host("example.com")), .uses(.server)]
}
