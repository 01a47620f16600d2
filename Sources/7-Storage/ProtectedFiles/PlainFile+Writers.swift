import Bytes
import CLibrary

extension PlainFile {
    /// Checks that no process can write to the file through an open descriptor or mapping. Data that it wrote after
    /// this file lost its name would be lost.
    ///
    /// The kernel gives a read lease (fcntl(2)) only on a file that no process has open for writing. The check finds
    /// nothing on file systems without leases and on files of other users.
    ///
    /// - Throws: ``SealedFileError/openForWriting(path:)``.
    func checkWriters() throws(SealedFileError) {
        // From fcntl-linux.h, which Glibc's module does not declare.
        let (setSignal, setLease): (Int32, Int32) = (10, 1024)
        // The kernel sends a signal to this process if another one opens the file during the lease. SIGURG is ignored
        // by default; SIGIO would end the process.
        guard fcntl(descriptor, setSignal, SIGURG) == 0 else { return }
        let deadline = ContinuousClock.now + Self.patience
        while fcntl(descriptor, setLease, Int32(F_RDLCK)) != 0 {
            guard errno == EAGAIN else { return }
            guard ContinuousClock.now < deadline else { throw .openForWriting(path: path) }
            usleep(2_000)
        }
        _ = fcntl(descriptor, setLease, Int32(F_UNLCK))
    }

    /// The time to wait for such a process. A child of another thread holds all descriptors of this process until it
    /// runs its program (fork(2)), even those that were closed meanwhile.
    private static let patience = Duration.milliseconds(500)
}
