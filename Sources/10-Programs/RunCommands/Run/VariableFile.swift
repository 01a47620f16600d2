import CommandKit
import FoundationEssentials

/// A file of variables: `NAME=VALUE` in each line, empty lines, and lines that begin with `#`.
///
/// A value goes to the end of the line, byte for byte: quotes, backslashes and `export` have no meaning. A line may end
/// as on Windows, and a mark of the byte order may begin the file; neither is part of a value or of a name.
enum VariableFile {
    static func read(_ path: String) throws(Failure) -> [RunVariable] {
        var bytes = try RunInput.read(path)
        if bytes.starts(with: RunInput.byteOrderMark) { bytes = bytes.dropFirst(RunInput.byteOrderMark.count) }
        var result: [RunVariable] = []
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            let whole = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            let line = whole.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            guard let first = line.first, first != UInt8(ascii: "#"), line.contains(where: { $0 > 0x20 }) else {
                continue
            }
            let place = "\(path):\(index + 1)"
            guard let equals = line.firstIndex(of: UInt8(ascii: "=")), RunVariable.isName(line[..<equals]) else {
                throw .input(place, "is not NAME=VALUE: a name has letters, digits and '_', and no digit first")
            }
            let name = String(decoding: line[..<equals], as: UTF8.self)
            let content = try content(line[(equals + 1)...], place)
            result.append(RunVariable(name: name, content: content, place: "\(place.escapedForTerminal): \(name)"))
        }
        return result
    }

    private static func content(_ value: Data, _ place: String) throws(Failure) -> RunVariable.Content {
        guard value.firstRange(of: SecretReference.scheme) != nil else { return .plain(try .copy(value)) }
        guard value.starts(with: SecretReference.scheme.utf8), let text = String(validating: value, as: UTF8.self)
        else {
            throw .input(
                place,
                "a reference has to be the whole value, without quotes: use --template for anything else")
        }
        do {
            return .secret(try SecretReference(text))
        } catch {
            throw .input(place, "the value \(error.reason)")
        }
    }
}
