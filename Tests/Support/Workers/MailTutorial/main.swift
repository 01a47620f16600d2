// Sources/Mail/main.swift
import Keychain

struct Account: Codable, KeychainValue {
    var server: String
    var password: String
}

let keychain = Keychain(service: "com.example.mail")
if let account = try keychain.get(Account.self, for: "alice") {
    print("alice signs in at \(account.server)")
} else {
    try keychain.set(Account(server: "imap.example.com", password: "correct horse"), for: "alice")
    print("stored; run it again")
}
