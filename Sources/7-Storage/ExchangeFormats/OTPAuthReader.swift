import Bytes
import FoundationEssentials
import OneTimeCodes

/// Addresses of one-time passwords, one in a line: `otpauth://`, and `otpauth-migration://`, in which Google
/// Authenticator hands over several, in several parts if they are many.
enum OTPAuthReader {
    static func isMeant(_ text: String) -> Bool {
        let first = text.drop { $0.isWhitespace }.prefix(24).lowercased()
        return first.hasPrefix("otpauth://") || first.hasPrefix("otpauth-migration://")
    }

    static func read(_ text: String) throws(ExchangeError) -> ExchangeContents {
        var contents = ExchangeContents()
        var parts: [Int64: (of: Int, seen: Set<Int64>)] = [:]
        for (number, line) in text.split(whereSeparator: \.isNewline).enumerated() {
            let line = line.drop { $0.isWhitespace }
            guard !line.isEmpty, line.first != "#" else { continue }
            if line.prefix(20).lowercased().hasPrefix("otpauth-migration://") {
                guard let part = migration(String(line), &contents) else {
                    contents.refuse("line \(number + 1)", "it is no whole address of Google Authenticator")
                    continue
                }
                if part.size > 1 { parts[part.batch, default: (part.size, [])].seen.insert(part.index) }
            } else {
                do throws(OneTimePasswordError) {
                    take(try OneTimePassword(String(line)), &contents)
                } catch {
                    contents.refuse("line \(number + 1)", "\(error)")
                }
            }
        }
        for part in parts.values where part.seen.count < part.of {
            contents.refuse(
                "Google Authenticator", "\(part.seen.count) of \(part.of) parts are here: scan the other codes, too")
        }
        return contents
    }

    private static func take(_ password: OneTimePassword, _ contents: inout ExchangeContents) {
        var entry = ExchangeEntry(title: password.issuer ?? password.account ?? "one-time code")
        entry.username = password.account
        entry.oneTimePassword = password
        contents.take(entry)
    }

    /// Reads one part. Its `data` is a message of Protocol Buffers in Base64: passwords (1), version (2), how many
    /// parts there are (3), which one this is (4), and a number that they share (5).
    private static func migration(
        _ address: String, _ contents: inout ExchangeContents
    ) -> (size: Int, index: Int64, batch: Int64)? {
        guard let parts = URLComponents(string: address),
            let data = parts.queryItems?.first(where: { $0.name == "data" })?.value,
            // Some programs leave the plus sign as it is, which a query takes for a space.
            let bytes = Data(base64Encoded: data.replacing(" ", with: "+")),
            let fields = ProtocolBuffer.fields(of: bytes)
        else { return nil }
        var (size, index, batch): (Int, Int64, Int64) = (1, 0, 0)
        for field in fields {
            switch (field.number, field.value) {
            case (1, .bytes(let message)):
                if let password = password(message) {
                    take(password, &contents)
                } else {
                    contents.refuse("Google Authenticator", "a one-time code of an unknown kind")
                }
            case (3, .number(let number)): size = Int(clamping: number)
            case (4, .number(let number)): index = Int64(truncatingIfNeeded: number)
            case (5, .number(let number)): batch = Int64(truncatingIfNeeded: number)
            default: break
            }
        }
        return (size, index, batch)
    }

    /// Secret (1), account (2), issuer (3), algorithm (4), digits (5), kind (6) and counter (7).
    private static func password(_ message: Data) -> OneTimePassword? {
        guard let fields = ProtocolBuffer.fields(of: message) else { return nil }
        func number(_ field: UInt64) -> UInt64 {
            for case (field, .number(let number)) in fields { return number }
            return 0
        }
        func bytes(_ field: UInt64) -> Data? {
            for case (field, .bytes(let bytes)) in fields { return bytes }
            return nil
        }
        func text(_ field: UInt64) -> String? {
            bytes(field).flatMap { String(validating: $0, as: UTF8.self) }.flatMap { $0.isEmpty ? nil : $0 }
        }
        let algorithms: [UInt64: OneTimePassword.Algorithm] = [0: .sha1, 1: .sha1, 2: .sha256, 3: .sha512]
        guard let secret = bytes(1), let algorithm = algorithms[number(4)], number(6) <= 2 else { return nil }
        var account = text(2)
        let issuer = text(3)
        // The account may repeat the issuer.
        if let issuer, let name = account, name.hasPrefix(issuer + ":") {
            account = String(name.dropFirst(issuer.count + 1).drop { $0 == " " })
        }
        return try? OneTimePassword(
            secret: secret, algorithm: algorithm, form: .digits(number(5) == 2 ? 8 : 6),
            factor: number(6) == 1 ? .counter(number(7)) : .time(period: 30), issuer: issuer, account: account)
    }
}

/// The fields of a message of Protocol Buffers, as far as two small messages need them.
enum ProtocolBuffer {
    enum Value {
        case number(UInt64)
        case bytes(Data)
    }

    /// - Returns: Nil for what is cut off, or has another type of field.
    static func fields(of message: Data) -> [(number: UInt64, value: Value)]? {
        var fields: [(UInt64, Value)] = []
        var rest = message
        func varint() -> UInt64? {
            var (number, shift): (UInt64, UInt64) = (0, 0)
            while let byte = rest.popFirst(), shift < 64 {
                number |= UInt64(byte & 0x7F) << shift
                guard byte & 0x80 != 0 else { return number }
                shift += 7
            }
            return nil
        }
        while !rest.isEmpty {
            guard let key = varint() else { return nil }
            switch key & 7 {
            case 0:
                guard let number = varint() else { return nil }
                fields.append((key >> 3, .number(number)))
            case 2:
                guard let count = varint().flatMap({ Int(exactly: $0) }), count <= rest.count else { return nil }
                fields.append((key >> 3, .bytes(Data(rest.prefix(count)))))
                rest = rest.dropFirst(count)
            default: return nil
            }
        }
        return fields
    }
}
