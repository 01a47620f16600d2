import Glibc

/// A program's turn at a TPM that has no resource manager: until it ends, no other program of this package speaks to
/// that TPM. Between commands the TPM itself would let others in, who would see and flush what is loaded.
final class Turn {
    private let folder: Int32

    /// Waits for the turn; nil if there is nothing to agree on it by.
    ///
    /// - Parameter path: A folder that all who share the TPM can read. Nothing is written to it.
    init?(lockingFolder path: String) {
        folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return nil }
        while flock(folder, LOCK_EX) != 0 {
            guard errno == EINTR else {
                close(folder)
                return nil
            }
        }
    }

    deinit {
        close(folder)
    }
}
