import Glibc

extension PlainFile {
    /// Finds out whether anybody could write to the file through a descriptor or mapping that is open now: what came
    /// after this file lost its name would be lost.
    ///
    /// The kernel gives a read lease (fcntl(2)) only on a file that nobody has open for writing. Where there are no
    /// leases, and on files of other users, nothing is found.
    ///
    /// - Throws: ``SealedFileError/openForWriting(path:)``.
    func checkWriters() throws(SealedFileError) {
        // fcntl-linux.h, which Glibc's module hides.
        let (setSignal, setLease): (Int32, Int32) = (10, 1024)
        // Somebody who opens the file before the lease is given back has this process told with a signal: with one
        // that is ignored unless somebody wants it, not SIGIO, which would end the process.
        guard fcntl(descriptor, setSignal, SIGURG) == 0 else { return }
        let deadline = ContinuousClock.now + Self.patience
        while fcntl(descriptor, setLease, Int32(F_RDLCK)) != 0 {
            guard errno == EAGAIN else { return }
            guard ContinuousClock.now < deadline else { throw .openForWriting(path: path) }
            usleep(2_000)
        }
        _ = fcntl(descriptor, setLease, Int32(F_UNLCK))
    }

    /// A child that another thread of this process starts has for a moment, until it runs its program (fork(2)), all
    /// descriptors that were open then, though they are closed here.
    private static let patience = Duration.milliseconds(500)
}
