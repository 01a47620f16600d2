import CLibrary
import CommandKit
import FoundationEssentials
import SystemLibraries

/// A file that is in memory alone.
enum MemoryFile {
    /// Returns a descriptor at the beginning of the file, which closes when another program replaces this one.
    static func holding(_ bytes: Data) throws(Failure) -> Int32 {
        let make: (@convention(c) (UnsafePointer<CChar>, UInt32) -> Int32)? = libraryFunction("memfd_create")
        // MFD_CLOEXEC (linux/memfd.h)
        let file = make?("secret", 1) ?? -1
        guard file >= 0 else { throw .system("there is no memory for the secret", errno) }
        do throws(Failure) {
            try FileOutput.write(bytes, to: file)
        } catch {
            close(file)
            throw error
        }
        lseek(file, 0, SEEK_SET)
        return file
    }
}
