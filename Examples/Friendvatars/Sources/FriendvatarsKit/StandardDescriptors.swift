import Glibc

/// The descriptors that every program expects to have.
package enum StandardDescriptors {
    /// Opens `/dev/null` for each standard descriptor that the parent process has closed. Otherwise a file that is
    /// opened later gets its number, and receives the printed text. Called first.
    package static func fill() {
        // Using them fails, as it would without them.
        for (descriptor, mode) in [(Int32(0), O_WRONLY), (1, O_RDONLY), (2, O_RDONLY)]
        where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest number that is free, which this one is.
            _ = open("/dev/null", mode)
        }
    }
}
