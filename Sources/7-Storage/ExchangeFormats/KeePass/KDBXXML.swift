import Bytes
import FoundationEssentials

/// XML that is written, with values that are encrypted once all of them are known: they are one stream.
struct KDBXXML {
    private enum Part {
        case text(String)
        case sealed(Int)
    }

    private var parts: [Part] = []
    private var text = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
    private var plain = Data()

    mutating func element(_ name: String, _ attributes: String = "", _ body: (inout KDBXXML) -> Void) {
        text += "<\(name)\(attributes)>"
        body(&self)
        text += "</\(name)>"
    }

    mutating func element(_ name: String, _ value: String, _ attributes: String = "") {
        text += "<\(name)\(attributes)>\(Self.escaped(value))</\(name)>"
    }

    /// An element whose value is encrypted within the XML.
    mutating func sealed(_ name: String, _ value: String) {
        text += "<\(name) Protected=\"True\">"
        parts.append(.text(text))
        parts.append(.sealed(value.utf8.count))
        plain += Data(value.utf8)
        text = "</\(name)>"
    }

    /// - Returns: Nil if libsodium cannot be used.
    func document(innerKey: Data) -> Data? {
        guard let sealed = KDBXStream.inner(.chaCha20, plain, key: innerKey) else { return nil }
        var (document, reader) = (Data(), ByteReader(sealed))
        for part in parts {
            switch part {
            case .text(let text): document += Data(text.utf8)
            case .sealed(let count): document += Data((reader.take(count) ?? Data()).base64EncodedString().utf8)
            }
        }
        return document + Data(text.utf8)
    }

    /// Whether XML 1.0 has a place for all characters (section 2.2).
    static func canHold(_ text: String) -> Bool { text.unicodeScalars.allSatisfy(isCharacter) }

    private static func isCharacter(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= 0x20 && scalar.value != 0xFFFE && scalar.value != 0xFFFF
            || [0x09, 0x0A, 0x0D].contains(scalar.value)
    }

    /// The text between elements. Characters that XML has no place for are left out.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars where isCharacter(scalar) {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            // A reader makes a line feed of it otherwise.
            case "\r": escaped += "&#13;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
