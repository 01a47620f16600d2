import CommandKit
import Dispatch
import FoundationEssentials
import ProtectedFiles
import Synchronization

/// Runs one operation on many files, on as many at a time as there are processors.
package struct FileWork {
    /// What became of a file.
    package enum Outcome: Sendable {
        case done
        /// There was nothing to do.
        case skipped
        /// The file is protected already, in another class than was asked for.
        case inAnotherClass
        /// The file is of no kind that the operation is for.
        case leftAlone
    }

    package struct Answer: Encodable {
        package struct Problem: Encodable {
            package var path: String
            package var error: String

            /// The error with the name of the file. Errors of the vault do not name it.
            package var line: String {
                let name = path.escapedForTerminal
                return error.contains(name) ? error : "\(name): \(error)"
            }
        }

        package var done = 0
        package var skipped = 0
        package var inAnotherClass = 0
        /// Symbolic links and the like below folders, files under a password, and files of other kinds.
        package var leftAlone = 0
        package var bytes: UInt64 = 0
        package var failed: [Problem] = []

        package var count: Int { done + skipped + inAnotherClass + failed.count }
    }

    /// Does `body` for each file, goes on after failures, and reports.
    ///
    /// - Parameters:
    ///   - verb: What was done, as in "protected".
    ///   - state: The state of files for which there was nothing to do, as in "protected already".
    ///   - marks: Whether to include the files that keep the classes of folders.
    ///   - isSweep: Whether the work is short for each file of what may be everything that a person has: it also goes
    ///     on after folders that cannot be read, and its progress counts files.
    package static func run<Cause: Error>(
        _ paths: [String], verb: String, otherwise state: String, json: Bool, marks: Bool = false,
        isSweep: Bool = false,
        _ body: @Sendable (_ file: FileTree.File, _ progress: (UInt64) -> Void) throws(Cause) -> Outcome
    ) throws {
        let tree = try FileTree(paths, marks: marks, goingOn: isSweep)
        let named = Set(paths)
        let files = tree.files
        let progress = isSweep ? FileProgress(files: files.count) : FileProgress(tree.size)
        var answer = Answer(leftAlone: tree.leftAlone)
        answer.failed = tree.unread.map { Answer.Problem(path: $0.path, error: $0.failure.message) }
        let shared = Mutex((answer: answer, failure: tree.unread.first?.failure))
        DispatchQueue.concurrentPerform(iterations: files.count) { number in
            let file = files[number]
            defer { if isSweep { progress.add(1) } }
            do throws(Cause) {
                let outcome = try body(file, progress.add)
                shared.withLock { shared in
                    switch outcome {
                    case .done:
                        shared.answer.done += 1
                        shared.answer.bytes += file.size
                    case .skipped: shared.answer.skipped += 1
                    case .inAnotherClass: shared.answer.inAnotherClass += 1
                    case .leftAlone: shared.answer.leftAlone += 1
                    }
                }
            } catch {
                if let error = error as? SealedFileError, !named.contains(file.path) {
                    switch error {
                    case .encryptedWithPassword, .ofVault:
                        return shared.withLock { $0.answer.leftAlone += 1 }
                    default: break
                    }
                    // What is gone since its folder was listed needs nothing any more.
                    if isSweep, case .notFound = error { return }
                }
                let failure = Failure(error)
                shared.withLock { shared in
                    shared.failure = shared.failure ?? failure
                    shared.answer.failed.append(Answer.Problem(path: file.path, error: failure.message))
                }
            }
        }
        progress.end()
        let failure = shared.withLock { $0.failure }
        answer = shared.withLock { $0.answer }
        answer.failed.sort { $0.path < $1.path }
        try report(answer, failure, (verb, state), json: json, isOne: files.count + tree.unread.count == 1)
    }

    private static func report(
        _ answer: Answer, _ failure: Failure?, _ words: (verb: String, state: String), json: Bool, isOne: Bool
    ) throws {
        if json {
            try StandardOutput.write(json: answer)
        } else if failure == nil || !isOne {
            var parts = ["\(answer.done) \(answer.done == 1 ? "file" : "files") \(words.verb)"]
            if answer.skipped > 0 { parts.append("\(answer.skipped) \(words.state)") }
            if answer.inAnotherClass > 0 {
                parts.append(
                    "\(answer.inAnotherClass) protected already in another class, which `keychain file set-class` "
                        + "changes"
                )
            }
            if answer.leftAlone > 0 { parts.append("\(answer.leftAlone) left alone") }
            try StandardOutput.write(line: parts.joined(separator: ", "))
        }
        guard let failure else { return }
        if isOne { throw failure }
        if !json {
            let lines = answer.failed.map { "keychain: \($0.line)\n" }.joined()
            try FileOutput.write(Data(lines.utf8), to: 2)
        }
        throw Failure(
            status: failure.status, exitCode: failure.exitCode,
            "\(answer.failed.count) of \(answer.count) files failed")
    }
}
