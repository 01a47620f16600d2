import Crypto
import Foundation

/// An e-mail address as accounts and avatars are found by it: without blanks around it, in lower case.
public struct EmailAddress: Sendable, Hashable, Codable {
    /// The address. It is personal: never write it to a log.
    public let text: String

    /// The longest, in bytes: RFC 5321, section 4.5.3.1.3, with the errata.
    public static let maximalSize = 254

    /// An address that somebody typed; nil for what is none.
    ///
    /// It is looked at only so far as to find what was typed by mistake: whether there is a mailbox, a letter alone
    /// shows.
    public init?(_ typed: String) {
        let text = typed.trimmingCharacters(in: .whitespacesAndNewlines).lowercased()
        guard text.utf8.count <= Self.maximalSize, !text.unicodeScalars.contains(where: Self.isForbidden) else {
            return nil
        }
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, parts[0].utf8.count <= 64 else { return nil }
        let labels = parts[1].split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count >= 2, labels.allSatisfy({ !$0.isEmpty && !$0.hasPrefix("-") && !$0.hasSuffix("-") }) else {
            return nil
        }
        self.text = text
    }

    private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isWhitespace || [.control, .format].contains(scalar.properties.generalCategory)
            || "<>()[]\\,;:\"".unicodeScalars.contains(scalar)
    }

    /// The hash by which services for avatars know the address.
    public func avatarHash(_ form: AvatarHashForm) -> String {
        let bytes = Data(text.utf8)
        return switch form {
        case .sha256: SHA256.hash(data: bytes).hexadecimal
        case .md5: Insecure.MD5.hash(data: bytes).hexadecimal
        }
    }
}

/// Which hash of an address a service for avatars wants.
public enum AvatarHashForm: String, Sendable, Hashable, CaseIterable {
    /// What Gravatar asks for since 2023.
    case sha256
    /// What it asked for before, and others still do. The address can be guessed from either.
    case md5
}

extension EmailAddress: CustomStringConvertible, CustomReflectable {
    /// Without the address.
    public var description: String { "EmailAddress" }
    /// Without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
