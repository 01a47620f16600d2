import FoundationEssentials

/// `NAME='value'` lines for shells, Compose and systemd.
enum EnvWriter {
    static func file(of entries: [ExchangeEntry]) -> (Data, [ExchangeContents.Problem]) {
        var (lines, lost): (String, [ExchangeContents.Problem]) = ("", [])
        var names: Set<String> = []
        for entry in entries {
            let name = name(entry.username.flatMap { $0.isEmpty ? nil : $0 } ?? entry.title)
            guard let password = entry.password, !password.contains("\0") else {
                lost.append(.init(entry.title, "it has no password"))
                continue
            }
            guard names.insert(name).inserted else {
                lost.append(.init(entry.title, "another one is called \(name) already"))
                continue
            }
            lines += "\(name)=\(quoted(password))\n"
        }
        return (Data(lines.utf8), lost)
    }

    private static func name(_ text: String) -> String {
        var name = ""
        for byte in text.utf8 {
            let isPart = (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF) || byte == 0x5F
            name.unicodeScalars.append(isPart ? Unicode.Scalar(byte) : "_")
        }
        return name.first?.isNumber ?? true ? "_" + name : name
    }

    private static func quoted(_ value: String) -> String {
        guard value.contains("'") || value.contains(where: \.isNewline) else { return "'\(value)'" }
        var quoted = "\""
        for character in value {
            switch character {
            case "\"", "\\", "$", "`": quoted += "\\\(character)"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            default: quoted.append(character)
            }
        }
        return quoted + "\""
    }
}
