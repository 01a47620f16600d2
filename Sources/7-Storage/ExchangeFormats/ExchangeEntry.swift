import FoundationEssentials
import OneTimeCodes

/// One entry of a password manager: what a person sees under one title.
///
/// Its parts are those of the FIDO Alliance's Credential Exchange Format (CXF 1.0), which has a place for what the
/// other formats have.
package struct ExchangeEntry: Sendable, Hashable {
    /// How the other program names it; nil if it does not.
    package var identifier: String?
    package var title: String
    package var created: Date?
    package var modified: Date?
    /// Where it is used, the most important first.
    package var addresses: [String] = []
    package var username: String?
    /// Nil for an entry that is no login, such as a note.
    package var password: String?
    package var note: String?
    package var oneTimePassword: OneTimePassword?
    package var fields: [Field] = []
    /// Earlier passwords, the oldest first.
    package var history: [Former] = []
    package var folder: String?
    package var tags: [String] = []
    package var isFavorite = false
    package var keys: [Key] = []
    /// Passkeys as CXF writes them, whole: nobody here looks into them.
    package var passkeys: [JSONValue] = []
    package var attachments: [Attachment] = []
    /// Members and credentials in CXF's form that have no place above. They are written again when the entry is.
    package var rest: [String: JSONValue] = [:]

    package init(title: String) { self.title = title }

    /// A value with a name.
    package struct Field: Sendable, Hashable {
        package var name: String
        package var value: String
        /// Whether it is a secret.
        package var isConcealed: Bool

        package init(_ name: String, _ value: String, isConcealed: Bool) {
            (self.name, self.value, self.isConcealed) = (name, value, isConcealed)
        }
    }

    /// A password that is no longer used.
    package struct Former: Sendable, Hashable {
        package var password: String
        /// When it was replaced.
        package var ended: Date?

        package init(password: String, ended: Date?) { (self.password, self.ended) = (password, ended) }
    }

    /// A private key.
    package struct Key: Sendable, Hashable {
        package var name: String?
        /// PKCS#8, or the text of PEM or of OpenSSH's form.
        package var document: Data
        /// The public key as a line of `authorized_keys`, if SSH has this kind of key.
        package var publicKey: String?

        package init(name: String?, document: Data) { (self.name, self.document) = (name, document) }
    }

    /// A file.
    package struct Attachment: Sendable, Hashable {
        package var name: String
        package var contents: Data

        package init(name: String, contents: Data) { (self.name, self.contents) = (name, contents) }
    }

    /// Whether there is anything in it besides its title.
    package var isEmpty: Bool {
        username == nil && password == nil && note == nil && oneTimePassword == nil && fields.isEmpty && keys.isEmpty
            && passkeys.isEmpty && attachments.isEmpty && rest.isEmpty
    }
}

/// What a file holds.
package struct ExchangeContents: Sendable {
    package var entries: [ExchangeEntry] = []
    /// What is not taken, and why.
    package var problems: [Problem] = []

    package init() {}

    package struct Problem: Sendable, Hashable {
        /// The entry's title, or its place in the file.
        package var name: String
        package var reason: String
        /// Whether something is lost that a person has to know of.
        package var isLoss: Bool

        package init(_ name: String, _ reason: String, isLoss: Bool = true) {
            (self.name, self.reason, self.isLoss) = (name, reason, isLoss)
        }
    }

    mutating func refuse(_ name: String, _ reason: String) { problems.append(Problem(name, reason)) }

    /// Notes what nobody misses.
    mutating func leaveOut(_ name: String, _ reason: String) { problems.append(Problem(name, reason, isLoss: false)) }

    /// Takes an entry. What is too long for any person to have typed is refused.
    mutating func take(_ entry: ExchangeEntry) {
        guard !entry.isEmpty else { return refuse(entry.title, "nothing is in it") }
        entries.append(entry)
    }
}

/// Why a file cannot be read.
package enum ExchangeError: Error, Equatable, Sendable {
    /// The file is none of the format: what is wrong, in words that name no contents.
    case malformed(ExchangeFormat, String)
    /// The format cannot be told from the contents.
    case unknown
    /// The file is encrypted, and no password was given.
    case needsPassword
    case wrongPassword
    /// The same, where a key file can be part of the password.
    case wrongPasswordOrKeyFile
    /// The file asks for more work or memory for its password than any program uses.
    case tooExpensive
    /// It has more entries or bytes than are read at once.
    case tooLarge
    /// What is needed for it is not installed: the name of a library or program.
    case missing(String)
}

/// The formats of files.
package enum ExchangeFormat: String, Sendable, CaseIterable {
    /// FIDO's Credential Exchange Format.
    case cxf
    case bitwarden
    /// A database of KeePass 2 and KeePassXC.
    case kdbx
    /// 1Password's unencrypted export.
    case onePassword = "1pux"
    /// Of Chrome, Firefox, Safari and Apple Passwords.
    case csv
    case aegis
    /// A list of `otpauth://` and `otpauth-migration://` addresses.
    case otpauth
    /// `NAME=value`, as programs and containers read it.
    case env
    case netrc
    /// What `security dump-keychain -d` of macOS prints.
    case dump = "dump-keychain"
}
