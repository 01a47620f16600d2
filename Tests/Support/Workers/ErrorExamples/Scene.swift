import Credentials
import Crypto
import DataProtection
import Foundation
import GRDB
import Keychain
import ProtectedDatabase
import SealedFields

/// What the examples have at hand.
let (url, path) = (URL(filePath: "/var/empty/diary"), "/var/empty/notes.sqlite")
let file = ProtectedFile(url)
let keychain = Keychain(service: "com.example.mail")
let hasher = PasswordHasher()
let deviceKey = SymmetricKey(size: .bits256)
let id: Int64 = 1

struct Note: Codable, Sendable, FetchableRecord, PersistableRecord {
    var id: Int64
    var text: String
}

struct Form {
    let account: String
    let password: String
}

enum Response {
    case tooManyTries(Duration)
    case wrongPassword, busy
    case signedIn(SessionToken, device: String)
}

func hash(of account: String) -> String? { nil }
