import Bytes
import CLibrary

/// The entitlements as they are now: read at the start, and again when their file has changed.
package final class EntitlementsSource: Sendable {
    private struct State {
        var entitlements: Entitlements
        var file: FileState?
        var lastLook = ContinuousClock.now
        var generation = 0
        /// What is wrong with the file, if its last version was not taken over.
        var mistake: EntitlementsError?
    }

    private struct FileState: Equatable {
        var inode: UInt64
        var size: Int
        var seconds: Int
        var nanoseconds: Int

        init?(_ path: String) {
            var info = stat()
            guard stat(path, &info) == 0 else { return nil }
            inode = UInt64(info.st_ino)
            size = Int(info.st_size)
            seconds = info.st_ctim.tv_sec
            nanoseconds = info.st_ctim.tv_nsec
        }
    }

    /// What came of a later reading of the file.
    package enum Reading: Sendable {
        case rules(Int)
        /// The file is gone, and so are all rules.
        case missing
        /// A file with a mistake changes nothing: the rules before it stay in force.
        case mistake(EntitlementsError)
    }

    private let path: String?
    private let report: @Sendable (Reading) -> Void
    private let state: UnfairMutex<State>
    /// How long a change of the file may go unseen.
    private static let interval = Duration.milliseconds(100)

    /// - Parameters:
    ///   - path: The file; nil for no rules.
    ///   - report: Told of each later reading.
    package init(
        file path: String?, report: @escaping @Sendable (Reading) -> Void = { _ in }
    ) throws(EntitlementsError) {
        self.path = path
        self.report = report
        let file = path.flatMap(FileState.init)
        state = UnfairMutex(State(entitlements: try path.map(Entitlements.init(file:)) ?? Entitlements(), file: file))
    }

    /// Rules that never change.
    package init(_ entitlements: Entitlements) {
        path = nil
        report = { _ in }
        state = UnfairMutex(State(entitlements: entitlements))
    }

    /// Returns the rules, and a number that changes with them.
    package func current() -> (entitlements: Entitlements, generation: Int) {
        state.withLock { state in
            let now = ContinuousClock.now
            if let path, now - state.lastLook >= Self.interval {
                state.lastLook = now
                let file = FileState(path)
                if file != state.file {
                    state.file = file
                    reload(path, &state)
                }
            }
            return (state.entitlements, state.generation)
        }
    }

    /// Returns the number of rules in force, and what is wrong with the file if its last version was not taken over.
    package func inForce() -> (rules: Int, mistake: EntitlementsError?) {
        let rules = current().entitlements.rules.count
        return (rules, state.withLock { $0.mistake })
    }

    private func reload(_ path: String, _ state: inout State) {
        do throws(EntitlementsError) {
            state.entitlements = try Entitlements(file: path)
            state.generation += 1
            state.mistake = nil
            report(state.file == nil ? .missing : .rules(state.entitlements.rules.count))
        } catch {
            state.mistake = error
            report(.mistake(error))
        }
    }
}

// `try path.map(Entitlements.init(file:))` keeps its error type only through an overload of its own.
extension Optional {
    fileprivate func map<Result>(
        _ transform: (Wrapped) throws(EntitlementsError) -> Result
    ) throws(EntitlementsError) -> Result? {
        guard let self else { return nil }
        return try transform(self)
    }
}
