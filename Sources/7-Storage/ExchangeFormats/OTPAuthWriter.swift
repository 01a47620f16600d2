import FoundationEssentials
import OneTimeCodes

/// One `otpauth://` address in each line.
enum OTPAuthWriter {
    static func file(of entries: [ExchangeEntry]) -> (Data, [ExchangeContents.Problem]) {
        var (lines, lost): (String, [ExchangeContents.Problem]) = ("", [])
        for entry in entries {
            if let password = entry.oneTimePassword {
                var password = password
                if password.issuer == nil { password.issuer = entry.title }
                if password.account == nil { password.account = entry.username }
                lines += password.uri + "\n"
            } else {
                lost.append(.init(entry.title, "it has no one-time code"))
            }
        }
        return (Data(lines.utf8), lost)
    }
}
