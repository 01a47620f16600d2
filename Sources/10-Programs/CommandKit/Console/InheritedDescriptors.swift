import Bytes
import CLibrary

/// The descriptors that stay open in a program that replaces this one or that this one starts.
package enum InheritedDescriptors {
    /// Passes on standard input, output and error, and `kept`, and nothing else.
    package static func keep(_ kept: Int32? = nil) {
        for number in open() where number > 2 && number != kept { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
    }

    private static func open() -> [Int32] {
        guard let folder = opendir("/proc/self/fd") else {
            return Array(0..<Int32(clamping: min(sysconf(Int32(truncatingIfNeeded: _SC_OPEN_MAX)), 65_536)))
        }
        defer { closedir(folder) }
        var numbers: [Int32] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let number = Int32(name) { numbers.append(number) }
        }
        return numbers
    }
}
