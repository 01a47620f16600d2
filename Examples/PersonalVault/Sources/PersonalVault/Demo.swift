import Foundation
import GRDB
import Keychain
import KeychainServices
import ProtectedDatabase
import SealedFields
import Synchronization

/// Goes through a vault's life, and ends with 1 as soon as something is not as it should be.
@main
enum Demo {
    private static let questions = Mutex(0)
    private static let secrets = ["correct horse", "%PDF-1.7 tax", "meet me at noon", "Dear diary", "private-tag"]

    static func main() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "personal-vault-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        // A vault of its own: nothing of the person's who runs this is touched.
        setenv("KEYCHAIN_HOME", folder.appending(path: "keychain").path, 1)
        unsetenv("KEYCHAIN_SOCKET")
        try KeychainProgram.declare(
            identifier: PersonalVault.identifier, accessGroups: [PersonalVault.identifier])
        // The demo answers for the person. A program would ask for the passcode here, in a window of its own.
        KeychainPrompt.use { _ in
            questions.withLock { $0 += 1 }
            return try? KeychainPasscode("1234")
        }
        do {
            try KeychainLock.setPasscode(
                KeychainPasscode("1234"), options: .init(cost: .init(memoryKiB: 8_192, passes: 1)))
            try run(folder.appending(path: "data"))
        } catch {
            print("FAILED  \(error)")
            try? FileManager.default.removeItem(at: folder)
            exit(1)
        }
    }

    private static func run(_ data: URL) throws {
        try live(data)
        try check(!FileManager.default.fileExists(atPath: data.path), "signing out leaves no file")
        try check(items() == 0, "and nothing in the keychain")

        try signInAgain(data)
        // What removing a program does: its folder goes, and the keychain's items stay.
        try FileManager.default.removeItem(at: data)
        let installed = try PersonalVault(folder: data)
        try check(installed.name == nil && installed.password() == nil, "after a reinstall nobody is signed in")
        try check(items() == 1, "and the keychain has the new database's key alone")
        try check(installed.notes(titled: "Monday").isEmpty, "and there are no notes")
        try installed.signOut()
    }

    /// From the first launch to signing out.
    private static func live(_ data: URL) throws {
        let vault = try PersonalVault(folder: data)
        try fill(vault)
        try look(vault)
        try checkDisk(data)
        try lock(vault)
        try vault.signOut()
    }

    /// What a program did that was removed then.
    private static func signInAgain(_ data: URL) throws {
        let vault = try PersonalVault(folder: data)
        try fill(vault)
        try vault.store.close()
        try check(items() > 1, "a second sign-in stores \(items()) items and keys")
    }

    private static func fill(_ vault: PersonalVault) throws {
        try vault.signIn("alice", password: "correct horse")
        let note = Note(title: "Monday", body: "Dear diary", tags: ["private-tag", "home"])
        try vault.add(note)
        try vault.add(Data("%PDF-1.7 tax".utf8), as: Document(name: "tax.pdf", noteId: note.id))
        try vault.add(message: "meet me at noon")
    }

    private static func look(_ vault: PersonalVault) throws {
        let before = questions.withLock { $0 }
        try check(vault.name == "alice", "the name is read without a question")
        try check(questions.withLock { $0 } == before, "nobody was asked")
        try check(vault.password() == "correct horse", "the password is read")
        try check(questions.withLock { $0 } == before + 1, "a person was asked once for it")

        let notes = try vault.notes(titled: "Monday")
        try check(notes.first?.body == "Dear diary" && notes.first?.tags == ["private-tag", "home"], "the note opens")
        let raw = try vault.store.read { db in try Data.fetchAll(db, sql: "SELECT body FROM note") }
        try check(
            raw.count == 1 && raw[0].range(of: Data("Dear".utf8)) == nil, "its column is sealed inside the database")
        if let id = notes.first?.id { try vault.rename(id, to: "Monday, late") }
        try check(vault.notes(titled: "Monday, late").first?.body == "Dear diary", "it is renamed, and opens")

        let documents = try vault.documents(of: notes[0])
        try check(documents.map(\.name) == ["tax.pdf"], "the note has its document")
        let file = vault.file(of: documents[0])
        try check(try file.data() == Data("%PDF-1.7 tax".utf8), "the document opens")
        let isComplete = try file.protection.map { $0 == .complete } ?? false
        try check(isComplete, "it is in the class complete")

        let messages = try vault.sealedMessages()
        try check(try messages.map(MessageKey.decrypt) == ["meet me at noon"], "the enclave's key opens the message")
    }

    /// Every byte that is on the disk.
    private static func checkDisk(_ data: URL) throws {
        let files = FileManager.default.enumerator(atPath: data.path)?.allObjects as? [String] ?? []
        var bytes = 0
        for name in files {
            guard let contents = FileManager.default.contents(atPath: data.appending(path: name).path) else { continue }
            bytes += contents.count
            for secret in secrets + ["Monday", "tax.pdf"] where contents.range(of: Data(secret.utf8)) != nil {
                throw DemoError("\(name) has '\(secret)' in the clear")
            }
        }
        try check(bytes > 4096, "nothing of it is in any of the \(bytes) bytes in \(files.count) files")
    }

    private static func lock(_ vault: PersonalVault) throws {
        let documents = try vault.store.read { db in try Document.fetchAll(db) }
        try KeychainLock.lock()
        try refuses("the database") { _ = try vault.notes(titled: "Monday, late") }
        try refuses("the document") { _ = try vault.file(of: documents[0]).data() }
        try refuses("the name") { _ = try vault.name }
        try KeychainLock.unlock(with: KeychainPasscode("1234"))
        try check(
            vault.notes(titled: "Monday, late").count == 1, "after the unlock the database opens again by itself")
    }

    private static func refuses(_ what: String, _ body: () throws -> Void) throws {
        do { try body() } catch {
            return print("ok  while the vault is locked, \(what) stays closed")
        }
        throw DemoError("\(what) opens while the vault is locked")
    }

    /// Passwords and keys of the program's in the keychain.
    private static func items() -> Int {
        [kSecClassGenericPassword, kSecClassKey].reduce(0) { count, kind in
            let query: [CFString: Any] = [
                kSecClass: kind, kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true,
            ]
            var found: CFTypeRef?
            guard SecItemCopyMatching(query as CFDictionary, &found) == errSecSuccess else { return count }
            return count + ((found as? [NSDictionary])?.count ?? 0)
        }
    }

    private static func check(_ isSo: @autoclosure () throws -> Bool, _ what: String) throws {
        guard try isSo() else { throw DemoError("not so: \(what)") }
        print("ok  \(what)")
    }
}

/// Why the demo did not go on.
struct DemoError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    init(_ error: Unmanaged<CFError>?) {
        description = error?.takeRetainedValue().localizedDescription ?? "no reason was given"
    }
}
