import Bytes
import FoundationEssentials
import OneTimeCodes

/// The ways in which programs write a one-time code into the fields of an entry of KeePass.
enum KDBXCode {
    /// Returns the names of the fields, and the code; a nil code if they cannot be understood, and nil without any.
    static func read(
        _ fields: [String: String], issuer: String, account: String?
    ) -> (names: Set<String>, code: OneTimePassword?)? {
        if let text = fields["otp"], !text.isEmpty {
            // KeePassXC writes an address, and KeeOtp a query.
            return (["otp"], text.contains("://") ? try? OneTimePassword(text) : keeOTP(text, issuer, account))
        }
        for (prefix, isTimed) in [("TimeOtp-", true), ("HmacOtp-", false)] {
            let own = fields.filter { $0.key.hasPrefix(prefix) }
            if let secret = secret(own, prefix) {
                return (Set(own.keys), keePass(own, secret, isTimed: isTimed, issuer, account))
            }
        }
        if let seed = fields["TOTP Seed"], !seed.isEmpty {
            return (["TOTP Seed", "TOTP Settings"], tray(seed, fields["TOTP Settings"] ?? "30;6", issuer, account))
        }
        return nil
    }

    private static func base32(_ text: String) -> Data? { (try? OneTimePassword(text))?.secret }

    // MARK: KeePass 2

    private static func secret(_ fields: [String: String], _ prefix: String) -> Data? {
        if let text = fields[prefix + "Secret"] { return Data(text.utf8) }
        if let text = fields[prefix + "Secret-Hex"] {
            return [UInt8](hexadecimal: text.utf8.filter { $0 > 0x20 }).map { Data($0) } ?? Data()
        }
        if let text = fields[prefix + "Secret-Base32"] { return base32(text) ?? Data() }
        return fields[prefix + "Secret-Base64"].map {
            Data(base64Encoded: $0, options: .ignoreUnknownCharacters) ?? Data()
        }
    }

    private static func keePass(
        _ fields: [String: String], _ secret: Data, isTimed: Bool, _ issuer: String, _ account: String?
    ) -> OneTimePassword? {
        guard isTimed else {
            guard let counter = UInt64(fields["HmacOtp-Counter"] ?? "0") else { return nil }
            return try? OneTimePassword(
                secret: secret, factor: .counter(counter), issuer: issuer, account: account)
        }
        let name = (fields["TimeOtp-Algorithm"] ?? "HMAC-SHA-1").uppercased().filter { $0 != "-" }
        guard
            let algorithm = OneTimePassword.Algorithm(
                rawValue: name.hasPrefix("HMAC") ? String(name.dropFirst(4)) : name),
            let digits = Int(fields["TimeOtp-Length"] ?? "6"), let period = Int(fields["TimeOtp-Period"] ?? "30")
        else { return nil }
        return try? OneTimePassword(
            secret: secret, algorithm: algorithm, form: .digits(digits), factor: .time(period: period), issuer: issuer,
            account: account)
    }

    // MARK: Plug-ins

    /// `key=…&step=30&size=6&type=hotp&counter=1&otpHashMode=sha256`.
    private static func keeOTP(_ text: String, _ issuer: String, _ account: String?) -> OneTimePassword? {
        var values: [String: String] = [:]
        for item in URLComponents(string: "?" + text)?.queryItems ?? [] { values[item.name.lowercased()] = item.value }
        guard let key = values["key"] else { return nil }
        let secret: Data? =
            switch values["encoding"]?.lowercased() ?? "base32" {
            case "hex": [UInt8](hexadecimal: key.utf8).map { Data($0) }
            case "base64": Data(base64Encoded: key)
            case "utf8": Data(key.utf8)
            default: base32(key)
            }
        guard let secret, let digits = Int(values["size"] ?? "6"), let period = Int(values["step"] ?? "30"),
            let counter = UInt64(values["counter"] ?? "0"),
            let algorithm = OneTimePassword.Algorithm(rawValue: (values["otphashmode"] ?? "SHA1").uppercased())
        else { return nil }
        let kind = values["type"]?.lowercased() ?? "totp"
        let form: OneTimePassword.Form = kind == "steam" ? .steam : .digits(digits)
        return try? OneTimePassword(
            secret: secret, algorithm: algorithm, form: form,
            factor: kind == "hotp" ? .counter(counter) : .time(period: period), issuer: issuer, account: account)
    }

    /// KeeTrayTOTP: the period, and the digits or `S` for Steam; a clock to trust may follow.
    private static func tray(
        _ seed: String, _ settings: String, _ issuer: String, _ account: String?
    ) -> OneTimePassword? {
        let parts = settings.split(separator: ";").map { String($0).trimmed }
        guard let secret = base32(seed), parts.count >= 2, let period = Int(parts[0]) else { return nil }
        let form: OneTimePassword.Form
        if parts[1].uppercased() == "S" {
            form = .steam
        } else {
            guard let digits = Int(parts[1]) else { return nil }
            form = .digits(digits)
        }
        return try? OneTimePassword(
            secret: secret, form: form, factor: .time(period: period), issuer: issuer, account: account)
    }

    // MARK: Writing

    /// Returns the fields of a code. KeePassXC would make codes by time of an address with a counter, so that such a
    /// code is written as KeePass 2 writes it.
    static func fields(_ code: OneTimePassword) -> [(String, String)] {
        guard case .counter(let counter) = code.factor else { return [("otp", code.uri)] }
        return [("HmacOtp-Secret-Base32", code.secretText), ("HmacOtp-Counter", String(counter))]
    }
}

/// A passkey in the fields of an entry, as KeePassXC writes it.
enum KDBXPasskey {
    static let prefix = "KPEX_PASSKEY_"
    /// What is not in CXF.
    private static let original = "keepass"

    /// - Returns: Nil without a passkey.
    static func cxf(_ fields: [String: String]) -> JSONValue? {
        guard let pem = fields[prefix + "PRIVATE_KEY_PEM"], let key = key(in: pem),
            let identifier = fields[prefix + "CREDENTIAL_ID"] ?? fields[prefix + "GENERATED_USER_ID"]
        else { return nil }
        var members: [String: JSONValue] = [
            "type": .string("passkey"), "credentialId": .string(identifier), "key": .string(key),
            original: .object(fields.mapValues(JSONValue.string)),
        ]
        members["rpId"] = fields[prefix + "RELYING_PARTY"].map(JSONValue.string)
        members["username"] = fields[prefix + "USERNAME"].map(JSONValue.string)
        members["userDisplayName"] = members["username"]
        members["userHandle"] = fields[prefix + "USER_HANDLE"].map(JSONValue.string)
        return .object(members)
    }

    private static let begin = "-----BEGIN PRIVATE KEY-----"
    private static let end = "-----END PRIVATE KEY-----"

    /// The PKCS#8 in a PEM text, in Base64 for URLs.
    private static func key(in pem: String) -> String? {
        guard let start = pem.firstRange(of: begin), let stop = pem[start.upperBound...].firstRange(of: end),
            let info = Data(
                base64Encoded: String(pem[start.upperBound..<stop.lowerBound]), options: .ignoreUnknownCharacters),
            !info.isEmpty
        else { return nil }
        return UnpaddedBase64.url.string(info)
    }

    /// Returns the fields of a passkey; nil if it has no key that can be written.
    static func fields(_ passkey: JSONValue) -> [String: String]? {
        if let fields = passkey[original]?.object { return fields.compactMapValues(\.text) }
        guard let key = passkey["key"]?.text,
            let info = UnpaddedBase64.url.decode(key.utf8.filter { $0 != UInt8(ascii: "=") }), !info.isEmpty,
            let identifier = passkey["credentialId"]?.text, let party = passkey["rpId"]?.text
        else { return nil }
        let lines = Data(info).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return [
            prefix + "PRIVATE_KEY_PEM": "\(begin)\n\(lines)\n\(end)", prefix + "CREDENTIAL_ID": identifier,
            prefix + "RELYING_PARTY": party, prefix + "USERNAME": passkey["username"]?.text ?? "",
            prefix + "USER_HANDLE": passkey["userHandle"]?.text ?? "",
        ]
    }
}

/// The file of KeeAgent, which says which file of an entry is a key for ssh-agent.
enum KDBXAgent {
    static let file = "KeeAgent.settings"

    /// Returns the name of the file with the key; nil if there is none.
    static func key(in settings: Data) -> String? {
        guard settings.count <= 1 << 20, let root = try? XMLNode.root(of: settings),
            root.name == "EntrySettings", root["AllowUseOfSshKey"].map(KDBXReader.isTrue) ?? true,
            let place = root["Location"], place["SelectedType"]?.text == "attachment",
            let name = place["AttachmentName"]?.text, !name.isEmpty
        else { return nil }
        return name
    }

    /// As KeePassXC writes it: a key that is there, and that nobody adds to an agent without being asked.
    static func settings(naming file: String) -> Data {
        let text = """
            <?xml version="1.0" encoding="UTF-8"?><EntrySettings><AllowUseOfSshKey>true</AllowUseOfSshKey>\
            <AddAtDatabaseOpen>false</AddAtDatabaseOpen><RemoveAtDatabaseClose>false</RemoveAtDatabaseClose>\
            <UseConfirmConstraintWhenAdding>false</UseConfirmConstraintWhenAdding>\
            <UseLifetimeConstraintWhenAdding>false</UseLifetimeConstraintWhenAdding>\
            <LifetimeConstraintDuration>600</LifetimeConstraintDuration><Location><SelectedType>attachment\
            </SelectedType><AttachmentName>\(KDBXXML.escaped(file))</AttachmentName>\
            <SaveAttachmentToTempFile>false</SaveAttachmentToTempFile><FileName/></Location></EntrySettings>
            """
        return Data(text.utf8)
    }
}
