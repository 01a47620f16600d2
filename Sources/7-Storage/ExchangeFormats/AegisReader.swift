import Bytes
import Crypto
import FoundationEssentials
import OneTimeCodes
import PasswordFiles

/// The vault of the authenticator Aegis, plain or under a password: scrypt opens one of its slots, which has the key of
/// the entries (AES-256-GCM both).
enum AegisReader {
    static func isMeant(_ json: JSONValue) -> Bool { json["header"]?["slots"] != nil && json["db"] != nil }

    static func read(_ json: JSONValue, password: () throws -> SecretBytes?) throws -> ExchangeContents {
        guard let database = json["db"] else { throw ExchangeError.malformed(.aegis, "it has no entries") }
        guard case .string(let sealed) = database else { return try entries(database) }
        guard let password = try password() else { throw ExchangeError.needsPassword }
        let key = try masterKey(json["header"]?["slots"]?.elements ?? [], password)
        guard let ciphertext = Data(base64Encoded: sealed),
            let plain = open(ciphertext, json["header"]?["params"], key).flatMap(JSONValue.init(parsing:))
        else { throw ExchangeError.malformed(.aegis, "its entries were changed") }
        return try entries(plain)
    }

    private static func masterKey(_ slots: [JSONValue], _ password: SecretBytes) throws -> SymmetricKey {
        let slots = slots.filter { $0["type"]?.number == 1 }
        guard !slots.isEmpty else {
            throw ExchangeError.malformed(.aegis, "no password opens it: export it with one")
        }
        for slot in slots.prefix(8) {
            guard let rounds = slot["n"]?.number, rounds > 1, rounds & (rounds - 1) == 0,
                let blockSize = slot["r"]?.number.flatMap(UInt32.init(exactly:)),
                let parallelism = slot["p"]?.number.flatMap(UInt32.init(exactly:)),
                let salt = slot["salt"]?.text.flatMap({ [UInt8](hexadecimal: $0.utf8) }),
                (1...1_024).contains(salt.count),
                let sealed = slot["key"]?.text.flatMap({ [UInt8](hexadecimal: $0.utf8) })
            else { throw ExchangeError.malformed(.aegis, "a slot has an unknown form") }
            let cost = PasswordCost.scrypt(
                logN: UInt32(truncatingIfNeeded: rounds.trailingZeroBitCount), blockSize: blockSize,
                parallelism: parallelism)
            guard cost.isAcceptable else { throw ExchangeError.tooExpensive }
            let stretched = try cost.stretch(password, salt: salt)
            let key = stretched.withUnsafeBytes { SymmetricKey(data: $0) }
            if let master = open(Data(sealed), slot["key_params"], key) { return SymmetricKey(data: master) }
        }
        throw ExchangeError.wrongPassword
    }

    private static func open(_ ciphertext: Data, _ parameters: JSONValue?, _ key: SymmetricKey) -> Data? {
        guard let nonce = parameters?["nonce"]?.text.flatMap({ [UInt8](hexadecimal: $0.utf8) }),
            let tag = parameters?["tag"]?.text.flatMap({ [UInt8](hexadecimal: $0.utf8) }),
            let box = try? AES.GCM.SealedBox(nonce: AES.GCM.Nonce(data: nonce), ciphertext: ciphertext, tag: tag)
        else { return nil }
        return try? AES.GCM.open(box, using: key)
    }

    private static func entries(_ database: JSONValue) throws(ExchangeError) -> ExchangeContents {
        guard let entries = database["entries"]?.elements else { throw .malformed(.aegis, "it has no entries") }
        var groups: [String: String] = [:]
        for group in database["groups"]?.elements ?? [] {
            if let id = group["uuid"]?.text, let name = group["name"]?.text { groups[id] = name }
        }
        var contents = ExchangeContents()
        for (number, item) in entries.enumerated() {
            let (issuer, account) = (item["issuer"]?.text, item["name"]?.text)
            var entry = ExchangeEntry(title: issuer ?? account ?? "entry \(number + 1)")
            entry.identifier = item["uuid"]?.text
            entry.note = item["note"]?.text
            entry.isFavorite = item["favorite"]?.isTrue ?? false
            entry.folder = item["group"]?.text ?? item["groups"]?.elements?.first?.text.flatMap { groups[$0] }
            guard let password = oneTimePassword(item, issuer, account) else {
                contents.refuse(entry.title, "its kind of one-time code is not known")
                continue
            }
            entry.username = account
            entry.oneTimePassword = password
            contents.take(entry)
        }
        return contents
    }

    private static func oneTimePassword(_ item: JSONValue, _ issuer: String?, _ account: String?) -> OneTimePassword? {
        guard let info = item["info"], let secret = info["secret"]?.text, let plain = try? OneTimePassword(secret),
            let algorithm = OneTimePassword.Algorithm(rawValue: info["algo"]?.text?.uppercased() ?? "SHA1")
        else { return nil }
        let digits = OneTimePassword.Form.digits(Int(clamping: info["digits"]?.number ?? 6))
        let time = OneTimePassword.Factor.time(period: Int(clamping: info["period"]?.number ?? 30))
        let kind: (form: OneTimePassword.Form, factor: OneTimePassword.Factor)
        switch item["type"]?.text {
        case "totp": kind = (digits, time)
        case "steam": kind = (.steam, time)
        case "hotp": kind = (digits, .counter(UInt64(clamping: info["counter"]?.number ?? 0)))
        default: return nil
        }
        return try? OneTimePassword(
            secret: plain.secret, algorithm: algorithm, form: kind.form, factor: kind.factor, issuer: issuer,
            account: account)
    }
}
