import CLibrary
import CommandKit
import DatabaseFiles
import FileCommands
import FoundationEssentials
import MountedFolder
import ProcessVault
import ProtectedFiles
import StatusCodes
import Synchronization
import VaultInterface

/// Wraps the keys of protected files and of encrypted databases under the present class keys of the vault.
///
/// Each file changes in one step, so that the next run continues an interrupted one.
struct FileRenewal {
    private let session: VaultSession

    init(_ session: VaultSession) { self.session = session }

    /// Renews the files and databases that the paths name, and those below the folders that they name.
    ///
    /// - Throws: ``Failure`` after all others are done, if one failed.
    func run(_ paths: [String], json: Bool) throws {
        try Self.check(paths)
        try unlock()
        let hasMounted = Mutex(false)
        defer {
            if hasMounted.withLock({ $0 }) {
                CommandNote.show("mounted folders were left alone: name the folders that are mounted there, too")
            }
        }
        try FileWork.run(
            paths, verb: "renewed", otherwise: "renewed already", json: json, marks: true, isSweep: true
        ) { found, _ in
            guard !found.isSymbolicLink else { throw SealedFileError.symbolicLink(path: found.path) }
            if try isProtected(found.path) { return try renewFile(found) ? .done : .skipped }
            if MountPoint.holds(found.path) {
                hasMounted.withLock { $0 = true }
                return .leftAlone
            }
            return try renewDatabase(found.path)
        }
    }

    /// Refuses folders that cannot be renewed through their view.
    static func check(_ paths: [String]) throws {
        if let path = paths.first(where: MountPoint.holds) {
            throw Failure(
                status: errSecParam,
                "\(path.escapedForTerminal) is in a mounted folder: name the folder that is mounted there instead")
        }
    }

    /// Asks for the passcode once. Otherwise each file of a closed class would, and each would try a wrong one.
    private func unlock() throws {
        let status = try session.perform(ReadStatus())
        guard status.isPasscodeSet, status.lockState != .unlocked else { return }
        // If nobody can be asked, each file of a closed class says what to do.
        _ = try session.unlockIfPossible()
    }

    /// Plain files are opened for reading only: who uses the vault may have no right to write to them.
    private func isProtected(_ path: String) throws(SealedFileError) -> Bool {
        do throws(SealedFileError) {
            _ = try SealedFileInfo(path)
            return true
        } catch {
            guard case .notProtected = error else { throw error }
            return false
        }
    }

    private func renewFile(_ found: FileTree.File) throws(SealedFileError) -> Bool {
        let file = try SealedFile(found.path, .writing, keys: session, durability: .power)
        defer { file.close() }
        guard try file.fileIdentity == found.identity else { throw .changed(path: found.path) }
        return try file.rewrapKey(keys: session)
    }

    private func renewDatabase(_ path: String) throws -> FileWork.Outcome {
        do {
            // Each thread has an override of its own.
            let isRenewed = try session.asCurrent {
                try ProtectedDatabaseFile(path: path, preparing: TextFunctions.add).rewrapKey()
            }
            return isRenewed.map { $0 ? .done : .skipped } ?? .leftAlone
        } catch ProtectedDatabaseError.Code.notEncrypted, ProtectedDatabaseError.Code.notDatabase {
            return .leftAlone
        } catch ProtectedDatabaseError.Code.keyNotFound where Self.isItemStore(path) {
            return .leftAlone
        }
    }

    /// Whether the database has the items of a vault. Its key is in the keybag beside it.
    private static func isItemStore(_ path: String) -> Bool {
        let url = URL(fileURLWithPath: path)
        let keybag = url.deletingLastPathComponent().appendingPathComponent("keybag").path
        return url.lastPathComponent.hasPrefix("items-") && access(keybag, F_OK) == 0
    }
}
