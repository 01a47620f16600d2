import Bytes
import CommandKit
import FoundationEssentials
import KeychainModel

/// An item in the form that `security` prints and scripts parse.
struct ItemText {
    private let item: StoredItem
    private let keychain: String

    init(_ item: StoredItem, keychain: String) {
        self.item = item
        self.keychain = keychain
    }

    var lines: String {
        let head = [
            "keychain: \"\(keychain)\"", "version: 512", "class: \(ItemColumn.className(item.itemClass))",
            "attributes:",
        ]
        let columns = ItemColumn.columns(of: item.itemClass).map { "    \($0.tag)<\($0.format.rawValue)>=\(text($0))" }
        return (head + columns).joined(separator: "\n")
    }

    private func text(_ column: ItemColumn) -> String {
        guard let attribute = column.attribute else {
            return column.constant.map { PrintedBytes($0).text } ?? "<NULL>"
        }
        guard let value = item.attribute(attribute) else { return "<NULL>" }
        let bytes = bytes(value, column.format)
        return bytes.isEmpty ? "<NULL>" : PrintedBytes(bytes).text
    }

    private func bytes(_ value: AttributeValue, _ format: ItemColumn.Format) -> Data {
        switch value {
        case .string(let string): Data(string.utf8)
        case .data(let data): data
        case .number(let number): Data(Int32(truncatingIfNeeded: number).bigEndianBytes)
        case .real(let real): Data(String(real).utf8)
        case .date(let date): Data(Timestamp(date).compact.utf8) + [0]
        }
    }
}

/// Bytes as `security` prints them: in quotes if all of them are printable, else in hexadecimal, followed by the quoted
/// form if at least one is printable.
struct PrintedBytes {
    let text: String

    init(_ bytes: Data) {
        var quoted = ""
        var hasPrintable = false
        var hasOther = false
        for byte in bytes {
            if byte >= 0x20, byte <= 0x7E, byte != UInt8(ascii: "\\") {
                hasPrintable = true
                quoted.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                hasOther = true
                let octal = String(byte, radix: 8)
                quoted += "\\" + String(repeating: "0", count: 3 - octal.count) + octal
            }
        }
        // The hexadecimal form ends in a blank even when nothing follows.
        let hexadecimal = hasOther ? "0x" + bytes.hexadecimal(uppercase: true) + " " : ""
        text = hexadecimal + (hasPrintable ? (hasOther ? " " : "") + "\"\(quoted)\"" : "")
    }
}

/// A password as `security` prints it.
struct PasswordText {
    private let bytes: Data

    init(_ bytes: Data) { self.bytes = bytes }

    /// For -w: the password itself, or hexadecimal digits if any byte is not printable ASCII.
    var alone: String {
        bytes.allSatisfy { $0 >= 0x20 && $0 <= 0x7E }
            ? String(decoding: bytes, as: UTF8.self) : bytes.hexadecimal()
    }

    /// For -g.
    var described: String { PrintedBytes(bytes).text }
}
