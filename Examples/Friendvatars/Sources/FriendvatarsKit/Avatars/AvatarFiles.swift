import DataProtection
import Foundation
import NIOPosix
import SealedFields

/// Avatars on the disk: protected files, whose contents are sealed with keys of the account that they were fetched for,
/// in a folder for each account. Their names say nothing about whose picture it is.
struct AvatarFiles: Sendable {
    let folder: URL
    let keys: AccountKeys

    struct Found: Sendable {
        let avatar: Avatar
        /// When it was fetched.
        let date: Date
    }

    /// Nil for what is not there, and for what cannot be opened: it is fetched anew.
    func read(_ email: EmailAddress, of account: UUID) async throws -> Found? {
        try await NIOThreadPool.singleton.runIfActive {
            let (file, row) = try file(email, account)
            guard
                let date = try? file.url.resourceValues(forKeys: [.contentModificationDateKey]).contentModificationDate,
                let sealed = try? SealedColumnValue<Data>(bytes: file.data()),
                let bytes = try? keys.sealing(of: account).open(sealed, at: place(row)),
                let avatar = Avatar(fetched: bytes)
            else { return nil }
            return Found(avatar: avatar, date: date)
        }
    }

    func write(_ avatar: Avatar, of email: EmailAddress, for account: UUID) async throws {
        try await NIOThreadPool.singleton.runIfActive {
            let (file, row) = try file(email, account)
            let sealed = try keys.sealing(of: account).seal(avatar.bytes, at: place(row))
            try FileManager.default.createDirectory(
                at: file.url.deletingLastPathComponent(), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            try file.write(
                sealed.bytes, options: [.atomic, .completeFileProtectionUntilFirstUserAuthentication])
        }
    }

    func remove(_ email: EmailAddress, of account: UUID) async throws {
        try await NIOThreadPool.singleton.runIfActive {
            try? FileManager.default.removeItem(at: file(email, account).file.url)
        }
    }

    func removeAll(of account: UUID) async throws {
        try await NIOThreadPool.singleton.runIfActive {
            try? FileManager.default.removeItem(at: folder.appending(path: account.uuidString))
        }
    }

    /// Removes the folders of all accounts but these.
    func removeAll(but accounts: Set<UUID>) async throws {
        try await NIOThreadPool.singleton.runIfActive {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))) ?? []
            for name in names {
                guard let account = UUID(uuidString: name), !accounts.contains(account) else { continue }
                try? FileManager.default.removeItem(at: folder.appending(path: name))
            }
        }
    }

    private func file(_ email: EmailAddress, _ account: UUID) throws -> (file: ProtectedFile, row: Data) {
        let digest = try keys.sealing(of: account).digest(of: email.text, table: "avatar", column: "bytes").bytes
        return (ProtectedFile(folder.appending(path: account.uuidString).appending(path: digest.hexadecimal)), digest)
    }

    private func place(_ row: Data) -> FieldPlace { FieldPlace(table: "avatar", column: "bytes", row: RowKey(row)) }
}
