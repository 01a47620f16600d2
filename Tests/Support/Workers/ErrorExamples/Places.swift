import Credentials
import Crypto
import DataProtection
import Foundation
import GRDB
import Keychain
import ProtectedDatabase
import SealedFields

// Each example that catches an error, in the places in which code can stand. With typed errors, the compiler (6.3.1)
// crashed on most of them when it had checked their types.

struct InFunctions {
    func reading() throws {
        var token: String?
        do {
            token = try keychain.get(String.self, for: "token")
        } catch KeychainError.Code.interactionNotAllowed {
            // Locked: try again after the unlock.
        } catch let error as KeychainError {
            print(error.message)
        }
        print(token ?? "none")
    }

    func readingFile() throws {
        var data: Data?
        do {
            data = try ProtectedFile(url).data()
        } catch ProtectedFileError.Code.locked {
            // Wait for `ProtectedData.events` to tell of the unlocking.
        }
        print(data?.count ?? 0)
    }

    func opening() throws {
        var database: ProtectedDatabase?
        do {
            database = try ProtectedDatabase(path: path)
        } catch ProtectedDatabaseError.Code.locked {
            // Wait for `ProtectedData.events()` to tell of the unlocking.
        }
        print(database?.isLocked ?? true)
    }

    func fetching(_ queue: DatabaseQueue) throws {
        var note: Note?
        do {
            note = try queue.read { try Note.fetchOne($0, key: id) }
        } catch SealedFieldsError.Code.locked {
            // Wait for the unlocking, and try again.
        }
        print(note?.text ?? "none")
    }

    func hashing(_ password: SignInPassword) throws {
        var stored: String?
        do {
            stored = try hasher.hash(password)
        } catch CredentialsError.Code.passwordTooLong {
            // Ask for another one.
        }
        print(stored ?? "none")
    }

    func write(_ note: Note, to database: ProtectedDatabase) throws {
        do {
            try database.write { db in try note.insert(db) }
        } catch ProtectedDatabaseError.Code.locked {
            // Keep it for later, or ask for the passcode; `ProtectedData.events()` tells of the unlock.
        }
    }
}

struct InAsynchronousFunctions {
    func reading() async throws {
        var token: String?
        do {
            token = try await keychain.get(String.self, for: "token")
        } catch KeychainError.Code.interactionNotAllowed {
            // Locked: try again after the unlock.
        } catch let error as KeychainError {
            print(error.message)
        }
        print(token ?? "none")
    }

    func readingFile() async throws {
        var data: Data?
        do {
            data = try ProtectedFile(url).data()
        } catch ProtectedFileError.Code.locked {
            // Wait for `ProtectedData.events` to tell of the unlocking.
        }
        print(data?.count ?? 0)
    }

    func opening() async throws {
        var database: ProtectedDatabase?
        do {
            database = try ProtectedDatabase(path: path)
        } catch ProtectedDatabaseError.Code.locked {
            // Wait for `ProtectedData.events()` to tell of the unlocking.
        }
        print(database?.isLocked ?? true)
    }

    func fetching(_ queue: DatabaseQueue) async throws {
        var note: Note?
        do {
            note = try await queue.read { try Note.fetchOne($0, key: id) }
        } catch SealedFieldsError.Code.locked {
            // Wait for the unlocking, and try again.
        }
        print(note?.text ?? "none")
    }

    func hashing(_ password: SignInPassword) async throws {
        var stored: String?
        do {
            stored = try await hasher.hash(password)
        } catch CredentialsError.Code.passwordTooLong {
            // Ask for another one.
        }
        print(stored ?? "none")
    }

    func write(_ note: Note, to database: ProtectedDatabase) async throws {
        do {
            try await database.write { db in try note.insert(db) }
        } catch ProtectedDatabaseError.Code.locked {
            // Keep it for later, or ask for the passcode; `ProtectedData.events()` tells of the unlock.
        }
    }

    func events() async throws {
        var text = Data()
        do {
            text = try file.data()
        } catch ProtectedFileError.Code.locked {
            for await event in try ProtectedData.events() where event == .didBecomeAvailable { break }
            text = try file.data()
        }
        print(text.count)
    }

    func signingIn() async throws {
        let devices = try DeviceTokens(key: deviceKey)  // a SymmetricKey, kept in the keychain
        let throttle = SignInThrottle(devices: devices)
        let tokens = SessionTokens(store: MemorySessionStore())

        func signIn(_ form: Form, from address: String, device: String?) async throws -> Response {
            let account = form.account
            if let wait = throttle.begin(account: account, address: address, device: device) {
                return .tooManyTries(wait)
            }
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
    }
}

struct InClosures {
    func reading() throws {
        var token: String?
        let work = {
            do {
                token = try keychain.get(String.self, for: "token")
            } catch KeychainError.Code.interactionNotAllowed {
                // Locked: try again after the unlock.
            } catch let error as KeychainError {
                print(error.message)
            }
        }
        try work()
        print(token ?? "none")
    }

    func readingFile() throws {
        var data: Data?
        let work = {
            do {
                data = try ProtectedFile(url).data()
            } catch ProtectedFileError.Code.locked {
                // Wait for `ProtectedData.events` to tell of the unlocking.
            }
        }
        try work()
        print(data?.count ?? 0)
    }

    func opening() throws {
        var database: ProtectedDatabase?
        let work = {
            do {
                database = try ProtectedDatabase(path: path)
            } catch ProtectedDatabaseError.Code.locked {
                // Wait for `ProtectedData.events()` to tell of the unlocking.
            }
        }
        try work()
        print(database?.isLocked ?? true)
    }

    func fetching(_ queue: DatabaseQueue) throws {
        var note: Note?
        let work = {
            do {
                note = try queue.read { try Note.fetchOne($0, key: id) }
            } catch SealedFieldsError.Code.locked {
                // Wait for the unlocking, and try again.
            }
        }
        try work()
        print(note?.text ?? "none")
    }

    func hashing(_ password: SignInPassword) throws {
        var stored: String?
        let work = {
            do {
                stored = try hasher.hash(password)
            } catch CredentialsError.Code.passwordTooLong {
                // Ask for another one.
            }
        }
        try work()
        print(stored ?? "none")
    }

    func write(_ note: Note, to database: ProtectedDatabase) throws {
        let work = {
            do {
                try database.write { db in try note.insert(db) }
            } catch ProtectedDatabaseError.Code.locked {
                // Keep it for later, or ask for the passcode; `ProtectedData.events()` tells of the unlock.
            }
        }
        try work()
    }

    func events() async throws {
        var text = Data()
        let work = {
            do {
                text = try file.data()
            } catch ProtectedFileError.Code.locked {
                for await event in try ProtectedData.events() where event == .didBecomeAvailable { break }
                text = try file.data()
            }
        }
        try await work()
        print(text.count)
    }

    func signingIn() async throws {
        let work = {
            let devices = try DeviceTokens(key: deviceKey)  // a SymmetricKey, kept in the keychain
            let throttle = SignInThrottle(devices: devices)
            let tokens = SessionTokens(store: MemorySessionStore())

            func signIn(_ form: Form, from address: String, device: String?) async throws -> Response {
                let account = form.account
                if let wait = throttle.begin(account: account, address: address, device: device) {
                    return .tooManyTries(wait)
                }
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
        }
        try await work()
    }
}
