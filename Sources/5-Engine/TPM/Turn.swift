import CLibrary

/// A program's turn at a TPM without a resource manager. Until it ends, no other program of this package uses that TPM.
/// Between two commands, the TPM itself would let other programs see and flush the loaded objects.
final class Turn {
    private let folder: Int32

    /// Waits for the turn; nil if the folder cannot be locked.
    ///
    /// - Parameter path: A folder that all programs with this TPM can read. Nothing is written to it.
    init?(lockingFolder path: String) {
        folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return nil }
        guard SystemCall.retryOnInterrupt({ flock(folder, LOCK_EX) }) == 0 else {
            close(folder)
            return nil
        }
    }

    deinit {
        close(folder)
    }
}
