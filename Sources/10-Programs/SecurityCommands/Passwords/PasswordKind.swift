import Bytes
import FoundationEssentials
import KeychainModel

/// A generic or internet password, and which letter of the command line sets which attribute.
struct PasswordKind: Sendable {
    private enum Conversion: Sendable {
        case text
        /// Bytes, as Apple documents this attribute: the UTF-8 of the text.
        case bytes
        /// Four characters that are one number (`FourCharCode`).
        case code
        /// Four characters that stay text, as Apple's constants for the attribute are.
        case codeText
        case port
    }

    let itemClass: ItemClass
    /// The attribute that names what the password is for.
    let subject: (letter: Character, name: AttributeName, word: String)
    private let letters: [(letter: Character, name: AttributeName, conversion: Conversion)]

    static let generic = PasswordKind(
        itemClass: .genericPassword, subject: ("s", .service, "service"),
        letters: shared + [("s", .service, .text), ("G", .generic, .bytes)])

    static let internet = PasswordKind(
        itemClass: .internetPassword, subject: ("s", .server, "server"),
        letters: shared + [
            ("s", .server, .text), ("d", .securityDomain, .text), ("p", .path, .text), ("P", .port, .port),
            ("r", .networkProtocol, .codeText), ("t", .authenticationType, .codeText),
        ])

    private static let shared: [(letter: Character, name: AttributeName, conversion: Conversion)] = [
        ("a", .account, .text), ("c", "crtr", .code), ("C", .type, .code), ("D", .itemDescription, .text),
        ("j", .comment, .text), ("l", .label, .text),
    ]

    /// The letters that take a value and set an attribute.
    var attributeLetters: String { String(letters.map(\.letter)) }

    /// The attributes that the options set.
    func attributes(_ options: ShortOptions) throws -> ItemAttributes {
        var attributes: ItemAttributes = [:]
        for option in options.options {
            guard let value = option.value, let entry = letters.first(where: { $0.letter == option.letter }) else {
                continue
            }
            attributes[entry.name] = try convert(value, entry.conversion, option.letter)
        }
        return attributes
    }

    private func convert(
        _ value: String, _ conversion: Conversion, _ letter: Character
    ) throws -> AttributeValue {
        switch conversion {
        case .text:
            return .string(value)
        case .bytes:
            return .data(Data(value.utf8))
        case .code:
            guard let code = AttributeName(value)?.code else { throw fourCharacters(letter) }
            return .number(Int64(code))
        case .codeText:
            guard AttributeName(value) != nil else { throw fourCharacters(letter) }
            return .string(value)
        case .port:
            guard let port = UInt16(value) else {
                throw SecurityFailure.usage("-\(letter) takes a port from 0 to 65535")
            }
            return .number(Int64(port))
        }
    }

    private func fourCharacters(_ letter: Character) -> SecurityFailure {
        .usage("-\(letter) takes a code of exactly four characters; fill a shorter one with blanks, as in \"ftp \"")
    }

    /// Returns the attributes that make an item unique, with the default values of those that were not given.
    func primaryKey(of attributes: ItemAttributes) -> ItemAttributes {
        var key: ItemAttributes = [:]
        for definition in itemClass.schema.primaryKey {
            let isOwn = letters.contains { $0.name == definition.name }
            if isOwn { key[definition.name] = attributes[definition.name] ?? definition.defaultValue }
        }
        return key
    }
}
