import ArgumentParser
import CLibrary

/// The number of a descriptor that a secret is read from.
package enum OpenDescriptor {
    /// Refuses the number of a descriptor that is not open. Call it while the command line is read: later, a file that
    /// this program opens may get the number, and would be taken for the secret.
    package static func validate(_ descriptor: Int32?) throws {
        guard let descriptor else { return }
        guard descriptor >= 0 else { throw ValidationError("a file descriptor is a number from 0 on") }
        guard fcntl(descriptor, F_GETFD) >= 0 else {
            throw ValidationError("descriptor \(descriptor) is not open; open it, as in \(descriptor)< file")
        }
    }
}
