import KeychainModel
import KeychainServices
import ProtectedDatabase
import VaultInterface

/// Runs `body` with the owner's view of the vault, which asks for the passcode where it is needed.
func withOwnersVault<Result>(
    _ passcode: PasscodeInput, _ body: () throws(Failure) -> Result
) throws(Failure) -> Result {
    let owner = OwnersVault(session: try VaultSession.ofOwner(passcode))
    return try VaultSession.$override.withValue(owner) { Swift.Result { () throws(Failure) in try body() } }.get()
}

private struct OwnersVault: VaultSessionProvider {
    let session: VaultSession
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
        case .locked: self.init(status: errSecInteractionNotAllowed, message)
        case .keyNotFound, .fileNotFound: self.init(status: errSecItemNotFound, message)
        case .fileExists, .alreadyEncrypted: self.init(status: errSecDuplicateItem, message)
        case .wrongKey, .damaged, .notDatabase: self.init(status: errSecDecode, message)
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
