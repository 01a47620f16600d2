import Credentials
import Crypto
import DataProtection
import Foundation
import GRDB
import Keychain
import ProtectedDatabase
import SealedFields

// The same examples as top-level code, which is asynchronous: some of them wait.

var token: String?
do {
    token = try keychain.get(String.self, for: "token")
} catch KeychainError.Code.interactionNotAllowed {
    // Locked: try again after the unlock.
} catch let error as KeychainError {
    print(error.message)
}
print(token ?? "none")

var data: Data?
do {
    data = try ProtectedFile(url).data()
} catch ProtectedFileError.Code.locked {
    // Wait for `ProtectedData.events` to tell of the unlocking.
}
print(data?.count ?? 0)

var database: ProtectedDatabase?
do {
    database = try ProtectedDatabase(path: path)
} catch ProtectedDatabaseError.Code.locked {
    // Wait for `ProtectedData.events()` to tell of the unlocking.
}
print(database?.isLocked ?? true)

let queue = try DatabaseQueue()
var note: Note?
do {
    note = try queue.read { try Note.fetchOne($0, key: id) }
} catch SealedFieldsError.Code.locked {
    // Wait for the unlocking, and try again.
}
print(note?.text ?? "none")

let password = try SignInPassword("correct horse")
var stored: String?
do {
    stored = try hasher.hash(password)
} catch CredentialsError.Code.passwordTooLong {
    // Ask for another one.
}
print(stored ?? "none")

if let database, let note {
    do {
        try database.write { db in try note.insert(db) }
    } catch ProtectedDatabaseError.Code.locked {
        // Keep it for later, or ask for the passcode; `ProtectedData.events()` tells of the unlock.
    }
}

var text = Data()
do {
    text = try file.data()
} catch ProtectedFileError.Code.locked {
    for await event in try ProtectedData.events() where event == .didBecomeAvailable { break }
    text = try file.data()
}
print(text.count)

let devices = try DeviceTokens(key: deviceKey)  // a SymmetricKey, kept in the keychain
let throttle = SignInThrottle(devices: devices)
let tokens = SessionTokens(store: MemorySessionStore())

func signIn(_ form: Form, from address: String, device: String?) async throws -> Response {
    let account = form.account
    if let wait = throttle.begin(account: account, address: address, device: device) { return .tooManyTries(wait) }
    do {
        let answer = try await hasher.verify(SignInPassword(form.password), against: hash(of: account))
        guard answer.isCorrect else { return .wrongPassword }
    } catch CredentialsError.Code.busy {
        throttle.notLookedAt(account: account, address: address, device: device)
        return .busy
    }
    throttle.succeeded(account: account, address: address, device: device)
    return .signedIn(try await tokens.issue(for: account), device: devices.make(for: account))
}
_ = try await signIn(Form(account: "ada", password: ""), from: "192.0.2.1", device: nil)
