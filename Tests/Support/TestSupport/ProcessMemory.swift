import Foundation
import Glibc

/// The memory of another process, which its own user and root can read.
package struct ProcessMemory {
    private let process: pid_t

    package init(of process: pid_t) { self.process = process }

    /// A secret that was found, with its memory region.
    package struct Finding: CustomStringConvertible {
        package var needle: String
        package var region: String
        package var description: String { "\(needle) in \(region)" }
    }

    /// Searches every readable page for each of `needles`, by name.
    ///
    /// - Returns: The findings, and the number of searched bytes.
    package func search(for needles: [(name: String, bytes: [UInt8])]) throws -> (found: [Finding], bytes: Int) {
        let maps = try regions()
        let memory = open("/proc/\(process)/mem", O_RDONLY | O_CLOEXEC)
        guard memory >= 0 else { throw ProcessMemoryError(errno: errno) }
        defer { close(memory) }
        var found: [Finding] = []
        var total = 0
        for line in maps.split(separator: "\n") {
            let fields = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
            guard fields.count >= 5, fields[1].first == "r" else { continue }
            let ends = fields[0].split(separator: "-").compactMap { UInt(String($0), radix: 16) }
            guard ends.count == 2 else { continue }
            let region = Self.read(memory, from: ends[0], to: ends[1])
            total += region.count
            for needle in needles where try Self.contains(region, needle.bytes) {
                found.append(Finding(needle: needle.name, region: String(line)))
            }
        }
        return (found, total)
    }

    /// Returns the list of regions. Reads to its end, because its size is not known before.
    private func regions() throws -> String {
        let list = open("/proc/\(process)/maps", O_RDONLY | O_CLOEXEC)
        guard list >= 0 else { throw ProcessMemoryError(errno: errno) }
        defer { close(list) }
        var text: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let got = Glibc.read(list, &chunk, chunk.count)
            if got == 0 { return String(decoding: text, as: UTF8.self) }
            guard got > 0 else { throw ProcessMemoryError(errno: errno) }
            text += chunk[..<got]
        }
    }

    /// Returns the readable bytes of a region. The kernel's own pages are not readable.
    private static func read(_ memory: Int32, from start: UInt, to end: UInt) -> [UInt8] {
        let size = Int(end - start)
        return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            while count < size {
                let got = pread(memory, buffer.baseAddress! + count, size - count, off_t(start) + off_t(count))
                if got <= 0 { break }
                count += got
            }
        }
    }

    private typealias Search =
        @convention(c) (UnsafeRawPointer, Int, UnsafeRawPointer, Int) -> UnsafeMutableRawPointer?

    /// memmem(3), a GNU extension that Swift's module of the C library does not declare.
    private static let memmem = dlsym(nil, "memmem").map { unsafeBitCast($0, to: Search.self) }

    private static func contains(_ region: [UInt8], _ needle: [UInt8]) throws -> Bool {
        guard let memmem else { throw ProcessMemoryError(errno: ENOSYS) }
        return memmem(region, region.count, needle, needle.count) != nil
    }
}

package struct ProcessMemoryError: Error {
    package var errno: Int32
}
