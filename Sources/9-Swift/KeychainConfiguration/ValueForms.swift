#if ConfigurationSupport
import Bytes
import Configuration
import Foundation

/// How stored bytes stand for values of the configuration's types: the text forms of `EnvironmentVariablesProvider`, in
/// UTF-8, with two differences. Items can have any bytes, so bytes need no encoding; and an array may be JSON, since
/// that is how `Keychain` stores one.
struct ValueForms: Sendable {
    /// What makes bytes of text; nil where `bytes` are the stored ones, and those in arrays base64.
    var bytesDecoder: (any ConfigBytesFromStringDecoder)?
    /// What separates the elements of an array.
    var separator: Character

    /// What `data` stands for; nil if it is not of the form that the type has.
    func content(of data: Data, as type: ConfigType) -> ConfigContent? {
        if type == .bytes, bytesDecoder == nil { return .bytes([UInt8](data)) }
        guard let text = String(validating: data, as: UTF8.self) else { return nil }
        return switch type {
        case .string: .string(text)
        case .int: Int(text).map { .int($0) }
        case .double: Double(text).map { .double($0) }
        case .bool: Self.bool(text).map { .bool($0) }
        case .bytes: bytes(text).map { .bytes($0) }
        case .stringArray: .stringArray(strings(text))
        case .intArray: elements(text, Int.init).map { .intArray($0) }
        case .doubleArray: elements(text, Double.init).map { .doubleArray($0) }
        case .boolArray: elements(text, Self.bool).map { .boolArray($0) }
        case .byteChunkArray: Self.all(strings(text), bytes).map { .byteChunkArray($0) }
        }
    }

    private static func bool(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "true", "yes", "1": true
        case "false", "no", "0": false
        default: nil
        }
    }

    private func bytes(_ text: String) -> [UInt8]? {
        if let bytesDecoder { return bytesDecoder.decode(text) }
        return ConfigBytesFromBase64StringDecoder().decode(text)
    }

    private func strings(_ text: String) -> [String] { Self.json(text) ?? parts(text) }

    private func elements<Element: Decodable>(_ text: String, _ element: (String) -> Element?) -> [Element]? {
        Self.json(text) ?? Self.all(parts(text), element)
    }

    private func parts(_ text: String) -> [String] {
        text.split(separator: separator, omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
    }

    /// Nil unless the text is a JSON array of such elements.
    private static func json<Element: Decodable>(_ text: String) -> [Element]? {
        guard text.first == "[", text.last == "]" else { return nil }
        // The decoder's error may quote the value.
        return try? JSONDecoder().decode([Element].self, from: Data(text.utf8))
    }

    /// What `element` makes of each text; nil if it makes nothing of one.
    private static func all<Element>(_ texts: [String], _ element: (String) -> Element?) -> [Element]? {
        let elements = texts.compactMap(element)
        return elements.count == texts.count ? elements : nil
    }
}
#endif
