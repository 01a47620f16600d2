import Bytes
import FoundationEssentials

/// Puts secrets into a request, where their rules allow it.
///
/// It is used twice for a request: first without values, to learn which secrets the request wants, and then with them.
package struct SecretPlacement {
    /// A secret that the request may get.
    package struct Candidate {
        package var number: Int
        package var placeholder: String
        /// Where in the request it may stand; empty if the request is one that does not get it.
        package var places: Set<SecretPlace>
        /// Nil while it is only looked for.
        package var value: SecretBytes?

        package init(number: Int, placeholder: String, places: Set<SecretPlace>, value: SecretBytes?) {
            self.number = number
            self.placeholder = placeholder
            self.places = places
            self.value = value
        }
    }

    let candidates: [Candidate]
    /// The numbers of those whose placeholder stands where a rule allows it.
    package internal(set) var wanted: Set<Int> = []
    /// Where placeholders stand that are not replaced.
    package internal(set) var strays: [(number: Int, place: SecretPlace)] = []

    /// The signature with which the request goes out, which must not come back to the program.
    package internal(set) var signature: String?

    package init(_ candidates: [Candidate]) { self.candidates = candidates }

    /// - Parameters:
    ///   - name: In lower case.
    ///   - value: As the program sent it.
    package mutating func header(_ name: String, _ value: String) -> String {
        if name == "authorization", let (scheme, pair) = Self.basic(value) {
            // The user and the password, each as a header of its own would have it.
            let parts = pair.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false).map {
                replace(in: Array($0), at: .authorization) { $0 }
            }
            let changed = Array(parts.joined(separator: [UInt8(ascii: ":")]))
            return changed == pair ? value : scheme + Data(changed).base64EncodedString()
        }
        let place = name == "authorization" ? SecretPlace.authorization : .header(name)
        let bytes = Array(value.utf8)
        let changed = replace(in: bytes, at: place) { $0 }
        return changed == bytes ? value : String(decoding: changed, as: UTF8.self)
    }

    /// Takes the user and the password out of HTTP Basic (RFC 7617, 2).
    private static func basic(_ value: String) -> (scheme: String, pair: [UInt8])? {
        guard value.lowercased().hasPrefix("basic "), case let text = value.dropFirst(6).drop(while: { $0 == " " }),
            let pair = Data(base64Encoded: String(text))
        else { return nil }
        return ("Basic ", Array(pair))
    }

    /// - Parameter target: Path and query.
    package mutating func target(_ target: String) -> String {
        let mark = target.firstIndex(of: "?") ?? target.endIndex
        let path = replace(in: Array(target[..<mark].utf8), at: .path) { SecretForms.percent($0) }
        let query = replace(in: Array(target[mark...].utf8), at: .query) { SecretForms.percent($0) }
        return String(decoding: path + query, as: UTF8.self)
    }

    package mutating func form(_ body: [UInt8]) -> [UInt8] {
        replace(in: body, at: .form) { SecretForms.percent($0) }
    }

    package mutating func json(_ body: [UInt8]) -> [UInt8] {
        replaceStrings(in: body, at: .json)
    }

    /// - Parameter text: A message of a WebSocket.
    package mutating func message(_ text: [UInt8]) -> [UInt8] {
        text.contains(UInt8(ascii: "\""))
            ? replaceStrings(in: text, at: .websocket) : replace(in: text, at: .websocket) { $0 }
    }

    /// Replaces the placeholders that are a JSON string each, and no name of a member.
    private mutating func replaceStrings(in bytes: [UInt8], at place: SecretPlace) -> [UInt8] {
        let forms = candidates.map { Self.forms(of: $0.placeholder, at: place) }
        var (result, rest, copied): ([UInt8], [UInt8], Int) = ([], [], 0)
        for string in JSONStrings(bytes) where forms.contains(where: { $0.contains(Array(bytes[string.range])) }) {
            let text = Array(bytes[string.range])
            let found = candidates.indices.filter { forms[$0].contains(text) && candidates[$0].places.contains(place) }
            guard !found.isEmpty, !string.isName else { continue }
            wanted.formUnion(found.map { candidates[$0].number })
            rest += bytes[copied..<string.range.lowerBound]
            result += bytes[copied..<string.range.lowerBound]
            if let value = found.compactMap({ candidates[$0].value }).first {
                result += value.withUnsafeBytes { SecretForms.json(Array($0)) }
            } else {
                result += text
            }
            copied = string.range.upperBound
        }
        rest += bytes[copied...]
        for (candidate, forms) in zip(candidates, forms) where forms.contains(where: { rest.firstRange(of: $0) != nil })
        {
            strays.append((candidate.number, place))
        }
        return result + bytes[copied...]
    }

    /// Replaces the placeholders in bytes, each where it is a whole value.
    ///
    /// Next to other text of the program it stays: where a server repeats a part of a value, the program would choose
    /// which part of the secret that is.
    private mutating func replace(
        in bytes: [UInt8], at place: SecretPlace, _ encode: ([UInt8]) -> [UInt8]
    ) -> [UInt8] {
        var result = bytes
        for candidate in candidates {
            for form in Self.forms(of: candidate.placeholder, at: place) {
                var start = 0
                while let range = result[start...].firstRange(of: form) {
                    guard candidate.places.contains(place), Self.isWhole(range, of: result, at: place) else {
                        strays.append((candidate.number, place))
                        start = range.upperBound
                        continue
                    }
                    wanted.insert(candidate.number)
                    guard let value = candidate.value else {
                        start = range.upperBound
                        continue
                    }
                    let encoded = value.withUnsafeBytes { encode(Array($0)) }
                    result.replaceSubrange(range, with: encoded)
                    // Beyond it: a secret may contain another one's placeholder.
                    start = range.lowerBound + encoded.count
                }
            }
        }
        return result
    }

    /// Whether the range is a value of its own: a header but for the word of a scheme, the user or the password, a
    /// segment of the path, a value of a query or a form, a JSON string.
    private static func isWhole(_ range: Range<Int>, of bytes: [UInt8], at place: SecretPlace) -> Bool {
        let before = range.lowerBound > 0 ? bytes[range.lowerBound - 1] : nil
        let after = range.upperBound < bytes.count ? bytes[range.upperBound] : nil
        switch place {
        case .authorization, .header:
            let scheme = bytes[..<range.lowerBound]
            let isScheme =
                scheme.isEmpty
                || scheme.count <= 17 && scheme.last == UInt8(ascii: " ")
                    && scheme.dropLast().allSatisfy { (0x61...0x7A).contains($0 | 0x20) || $0 == UInt8(ascii: "-") }
            return after == nil && isScheme
        case .path:
            return before == UInt8(ascii: "/") && (after == nil || after == UInt8(ascii: "/"))
        case .query, .form:
            // The first '=' after the name: what follows is all of the value.
            let pair = bytes[..<range.lowerBound].dropLast().reversed().prefix { byte in
                byte != UInt8(ascii: "&") && byte != UInt8(ascii: "?")
            }
            return before == UInt8(ascii: "=") && (after == nil || after == UInt8(ascii: "&"))
                && !pair.contains(UInt8(ascii: "="))
        // Strings are looked for in another way.
        case .json, .websocket: return before == nil && after == nil
        // The signature says which placeholder it was made with.
        case .aws, .awsID: return false
        }
    }

    /// How a program may write the placeholder there.
    private static func forms(of placeholder: String, at place: SecretPlace) -> [[UInt8]] {
        let bytes = Array(placeholder.utf8)
        let others =
            switch place {
            case .authorization, .header, .aws, .awsID: [] as [[UInt8]]
            case .path, .query, .form: [SecretForms.percent(bytes), SecretForms.percent(bytes, isUpper: false)]
            case .json, .websocket: [SecretForms.json(bytes, escapesSlash: true)]
            }
        return others.reduce(into: [bytes]) { forms, form in if !forms.contains(form) { forms.append(form) } }
    }
}
