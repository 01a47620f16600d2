import Bytes
import CLibrary

/// The processors that this process may use.
package enum Processors {
    private typealias GetAffinity = @convention(c) (pid_t, Int, UnsafeMutableRawPointer) -> Int32

    /// The number of processors, at least 1. Foundation counts all of the machine, even if the process may use fewer.
    package static let count: Int = {
        // sched_getaffinity(2), which Swift's module of the C library does not declare. Its mask has one bit per
        // processor.
        var mask = [UInt64](repeating: 0, count: 128)
        guard let get: GetAffinity = libraryFunction("sched_getaffinity"),
            get(0, mask.count * MemoryLayout<UInt64>.size, &mask) == 0
        else { return max(1, sysconf(Int32(truncatingIfNeeded: _SC_NPROCESSORS_ONLN))) }
        return max(1, mask.reduce(0) { $0 + $1.nonzeroBitCount })
    }()
}
