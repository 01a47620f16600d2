import Glibc

/// The processors that this process may use.
package enum Processors {
    private typealias GetAffinity = @convention(c) (pid_t, Int, UnsafeMutableRawPointer) -> Int32

    /// How many there are; at least one. Foundation counts those of the machine, also where the process is bound to fewer.
    package static let count: Int = {
        // sched_getaffinity(2), which Swift's module of the C library does not show. The mask has a bit for each processor.
        var mask = [UInt64](repeating: 0, count: 128)
        guard let get: GetAffinity = libraryFunction("sched_getaffinity"),
            get(0, mask.count * MemoryLayout<UInt64>.size, &mask) == 0
        else { return max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }
        return max(1, mask.reduce(0) { $0 + $1.nonzeroBitCount })
    }()
}
