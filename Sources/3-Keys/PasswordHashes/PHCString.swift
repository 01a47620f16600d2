import Bytes

/// A string with a hash and its parameters: `$id$v=19$m=65536,t=3,p=1$salt$hash`.
///
/// The grammar is that of the Password Hashing Competition's string format (github.com/P-H-C/phc-string-format). Salts
/// and hashes stay as written, because each function encodes them differently.
struct PHCString: Equatable, Sendable {
    /// The longest accepted string in bytes. No function writes a longer one.
    static let maximalLength = 1024

    var identifier: String
    /// The version of the function; nil if the string has none.
    var version: UInt32?
    /// In the order of the string.
    var parameters: [Parameter]
    /// As written.
    var salt: String
    /// As written.
    var hash: String

    struct Parameter: Equatable, Sendable {
        var name: String
        var value: String
    }

    /// Parses a string; nil unless it is a whole string with salt and hash.
    init?(_ text: String) {
        guard text.utf8.count <= Self.maximalLength, text.utf8.first == UInt8(ascii: "$") else { return nil }
        var fields = text.utf8.split(separator: UInt8(ascii: "$"), omittingEmptySubsequences: false).dropFirst()[...]
        guard let identifier = fields.popFirst(), Self.isName(identifier) else { return nil }
        var version: UInt32?
        if let field = fields.first, field.starts(with: "v=".utf8) {
            guard let number = Self.number(field.dropFirst(2)) else { return nil }
            version = number
            fields.removeFirst()
        }
        var parameters: [Parameter] = []
        if let field = fields.first, field.contains(UInt8(ascii: "=")), fields.count == 3 {
            for pair in field.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
                let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2, Self.isName(parts[0]), Self.isValue(parts[1]) else { return nil }
                let parameter = Parameter(name: String(parts[0]) ?? "", value: String(parts[1]) ?? "")
                guard !parameters.contains(where: { $0.name == parameter.name }) else { return nil }
                parameters.append(parameter)
            }
            fields.removeFirst()
        }
        guard fields.count == 2, let salt = fields.popFirst(), let hash = fields.popFirst(), Self.isValue(salt),
            Self.isValue(hash)
        else { return nil }
        self.identifier = String(identifier) ?? ""
        (self.version, self.parameters) = (version, parameters)
        (self.salt, self.hash) = (String(salt) ?? "", String(hash) ?? "")
    }

    init(identifier: String, version: UInt32?, parameters: [Parameter], salt: String, hash: String) {
        (self.identifier, self.version, self.parameters) = (identifier, version, parameters)
        (self.salt, self.hash) = (salt, hash)
    }

    var text: String {
        var text = "$" + identifier
        if let version { text += "$v=\(version)" }
        if !parameters.isEmpty {
            text += "$" + parameters.map { "\($0.name)=\($0.value)" }.joined(separator: ",")
        }
        return text + "$" + salt + "$" + hash
    }

    subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }

    /// Returns a parameter that is a number without sign or leading zeros; nil for any other.
    func number(_ name: String) -> UInt32? { self[name].flatMap { Self.number($0.utf8[...]) } }

    private static func number(_ digits: Substring.UTF8View) -> UInt32? {
        guard let first = digits.first, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        guard first != 0x30 || digits.count == 1 else { return nil }
        return String(digits).flatMap { UInt32($0) }
    }

    private static func isName(_ bytes: Substring.UTF8View) -> Bool {
        (1...32).contains(bytes.count)
            && bytes.allSatisfy { isSmallLetter($0) || isDigit($0) || $0 == UInt8(ascii: "-") }
    }

    private static func isValue(_ bytes: Substring.UTF8View) -> Bool {
        !bytes.isEmpty
            && bytes.allSatisfy {
                isSmallLetter($0 | 0x20) || isDigit($0) || "/+.-".utf8.contains($0)
            }
    }

    private static func isSmallLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
