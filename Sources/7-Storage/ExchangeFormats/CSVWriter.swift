import FoundationEssentials
import OneTimeCodes

/// Comma-separated values with the columns of Apple Passwords and Safari.
enum CSVWriter {
    static func file(of entries: [ExchangeEntry]) -> (Data, [ExchangeContents.Problem]) {
        var lost: [ExchangeContents.Problem] = []
        var rows = [["Title", "URL", "Username", "Password", "Notes", "OTPAuth"]]
        for entry in entries {
            guard entry.password != nil || entry.username != nil || entry.note != nil || entry.oneTimePassword != nil
            else {
                lost.append(.init(entry.title, "it has no password"))
                continue
            }
            rows.append([
                entry.title, entry.addresses.first ?? "", entry.username ?? "", entry.password ?? "", entry.note ?? "",
                entry.oneTimePassword?.uri ?? "",
            ])
            let hasMore =
                entry.addresses.count > 1 || !entry.fields.isEmpty || !entry.history.isEmpty || !entry.keys.isEmpty
                || !entry.passkeys.isEmpty || !entry.attachments.isEmpty || !entry.rest.isEmpty
            if hasMore { lost.append(.init(entry.title, "a part of it has no column in this format")) }
        }
        let lines = rows.map { row in row.map(quoted).joined(separator: ",") + "\r\n" }
        return (Data(lines.joined().utf8), lost)
    }

    private static func quoted(_ value: String) -> String {
        let needsQuotes = value.utf8.contains { "\",\r\n".utf8.contains($0) } || value.first == " " || value.last == " "
        return needsQuotes ? "\"" + value.replacing("\"", with: "\"\"") + "\"" : value
    }
}
