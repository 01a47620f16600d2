import Bytes
import FoundationEssentials

/// A variable that the command gets, and its content.
struct RunVariable {
    enum Content {
        /// From a file of variables, as it is there.
        case plain(SecretBytes)
        case secret(SecretReference)
        /// The path of a file that has the secret.
        case file(SecretReference)
        /// The path of a file that is made of this one.
        case template(path: String)
    }

    let name: String
    let content: Content
    /// Its name in errors: the variable, or the line of a file.
    let place: String

    /// Splits `NAME=content`.
    ///
    /// - Returns: Nil without a `=`, or if what is before it is not the name of a variable.
    static func parts(of assignment: String) -> (name: String, rest: String)? {
        guard let equals = assignment.firstIndex(of: "="), isName(assignment[..<equals].utf8) else { return nil }
        return (String(assignment[..<equals]), String(assignment[assignment.index(after: equals)...]))
    }

    /// Whether these bytes are a name that every shell takes: letters, digits and underscores, no digit first
    /// (POSIX, 3.216 and 8.1).
    static func isName(_ bytes: some Collection<UInt8>) -> Bool {
        guard let first = bytes.first, !isDigit(first) else { return false }
        return bytes.allSatisfy { byte in
            isDigit(byte) || byte == UInt8(ascii: "_")
                || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    /// The name of the file for this variable. It keeps the ending of a template, which programs look at.
    var fileName: String {
        guard case .template(let path) = content else { return name }
        let ending = URL(fileURLWithPath: path).pathExtension
        return ending.isEmpty || !ending.utf8.allSatisfy({ Self.isName(CollectionOfOne($0)) || Self.isDigit($0) })
            ? name : "\(name).\(ending)"
    }
}
