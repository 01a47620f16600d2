import KeychainModel
import StatusCodes
import DatabaseFiles
import VaultInterface

/// Runs `body` with the owner's view of the vault, which asks for the passcode where it is needed.
///
/// - Parameter require: What opening the database takes from now on; it is said if nobody can meet that yet.
func withOwnersVault<Result>(
    _ passcode: PasscodeInput, requiring require: [ItemRequirement] = [], _ body: () throws(Failure) -> Result
) throws(Failure) -> Result {
    let owner = OwnersVault(session: try VaultSession.ofOwner(passcode))
    let result = try VaultSession.$override.withValue(owner) { Swift.Result { () throws(Failure) in try body() } }.get()
    try PasscodeNote.show(require, "the database opens only once one is") { () throws(Failure) in
        do throws(VaultError) {
            return try owner.session.vault.status(as: owner.session.client)
        } catch {
            throw Failure(error)
        }
    }
    return result
}

private struct OwnersVault: VaultSessionProvider {
    let session: VaultSession
}

extension ProtectedDatabaseFile {
    /// The database at a path that was given.
    init(path: String) { self.init(path: path, preparing: TextFunctions.add) }
}

/// Runs `body`, with what it throws as this command's failure.
func handlingDatabase<Result>(
    _ body: () throws(ProtectedDatabaseError) -> Result
) throws(Failure) -> Result {
    do {
        return try body()
    } catch {
        throw Failure(error)
    }
}

extension Failure {
    /// What went wrong with a database.
    init(_ error: ProtectedDatabaseError) {
        let message = error.message.escapedForTerminal
        switch error.code {
        case .locked:
            // Failures of protected files say it already.
            let remedy = "with `keychain unlock` if keychaind runs, or give the passcode with --passcode-fd"
            self.init(
                status: errSecInteractionNotAllowed,
                message.contains("--passcode-fd") ? message : "\(message): \(remedy)")
        case .keyNotFound, .fileNotFound: self.init(status: errSecItemNotFound, message)
        case .fileExists, .alreadyEncrypted: self.init(status: errSecDuplicateItem, message)
        case .wrongKey, .damaged, .notDatabase: self.init(status: errSecDecode, message)
        case .authenticationFailed: self.init(status: errSecAuthFailed, message)
        case .userCanceled, .taskCanceled: self.init(status: errSecUserCanceled, message)
        case .accessDenied: self.init(status: errSecMissingEntitlement, message)
        case .notEncrypted, .invalidRequest, .unsupported: self.init(status: errSecParam, message)
        case .diskFull: self.init(status: errSecDiskFull, exitCode: ExitStatus.other, message)
        default: self.init(status: errSecIO, exitCode: ExitStatus.other, message)
        }
    }
}

/// A conversion with its progress on the terminal.
enum DatabaseConversion {
    struct Answer: Encodable {
        var path: String
        var bytes: UInt64
    }

    static func run(
        _ path: String, verb: String, json: Bool,
        _ body: (ProtectedDatabaseFile, (ProtectedDatabaseFile.Progress) -> Bool) throws(ProtectedDatabaseError) -> Void
    ) throws(Failure) {
        var meter: FileProgress?
        var done: UInt64 = 0
        defer { meter?.end() }
        try handlingDatabase { () throws(ProtectedDatabaseError) in
            try body(ProtectedDatabaseFile(path: path)) { progress in
                let shown = meter ?? FileProgress(progress.total)
                meter = shown
                if progress.done > done { shown.add(progress.done - done) }
                done = max(done, progress.done)
                return true
            }
        }
        meter?.end()
        if json { return try StandardOutput.write(json: Answer(path: path, bytes: done)) }
        try StandardOutput.write(
            line: "\(path.escapedForTerminal) \(verb), \(FileProgress.amount(Double(done)))")
    }
}
