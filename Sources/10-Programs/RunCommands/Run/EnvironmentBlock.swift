import Bytes
import CLibrary
import CommandKit
import FoundationEssentials
import StatusCodes

/// The environment that a command gets: that of this process, with further variables.
///
/// The memory of the further variables is wiped when this object goes. The kernel makes the command's copy.
final class EnvironmentBlock {
    private var entries: [(name: String, text: SecretBytes)] = []

    /// MAX_ARG_STRLEN (linux/binfmts.h): the largest size of a variable in bytes, with its name and its end.
    private static let limit = 131_072

    /// - Parameter place: The name of the variable in errors.
    func set(_ name: String, to value: SecretBytes, at place: String) throws(Failure) {
        let hasNUL = value.withUnsafeBytes { $0.contains(0) }
        guard !hasNUL else {
            throw Failure(
                status: errSecParam,
                "\(place): the value has a NUL byte, which no variable can hold: give it in a file, with --file")
        }
        guard name.utf8.count + value.count + 2 <= Self.limit else {
            throw Failure(
                status: errSecParam,
                "\(place): the value is longer than the \(Self.limit >> 10) KiB that a variable can hold: give it in a "
                    + "file, with --file")
        }
        let text = try SecretBytes.joining([.text(name + "="), value, .text("\0")])
        entries.removeAll { $0.name == name }
        entries.append((name, text))
    }

    func set(_ name: String, to path: String) throws(Failure) {
        try set(name, to: .text(path), at: name)
    }

    /// Calls `body` with what execve(2) takes.
    func withPointers<Result>(_ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result) -> Result {
        var pointers: [UnsafeMutablePointer<CChar>?] = []
        var inherited = environ
        while let variable = inherited.pointee {
            if !entries.contains(where: { Self.isNamed($0.name, variable) }) { pointers.append(variable) }
            inherited += 1
        }
        for entry in entries {
            // Valid as long as this object lives, and only read.
            let text = entry.text.withUnsafeBytes { $0.baseAddress?.assumingMemoryBound(to: CChar.self) }
            pointers.append(UnsafeMutablePointer(mutating: text))
        }
        pointers.append(nil)
        return withExtendedLifetime(self) {
            pointers.withUnsafeMutableBufferPointer { buffer in
                // Never empty: there is at least the nil.
                body(buffer.baseAddress.unsafelyUnwrapped)
            }
        }
    }

    /// The same in a file in memory, each variable with a NUL behind it.
    func memoryFile() throws(Failure) -> Int32 {
        // All room at first: a copy that grows would leave the secrets behind.
        var bytes = Data(
            capacity: withPointers { pointers in
                var (count, next) = (0, pointers)
                while let variable = next.pointee {
                    count += strlen(variable) + 1
                    next += 1
                }
                return count
            })
        defer { bytes.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
        withPointers { pointers in
            var next = pointers
            while let variable = next.pointee {
                bytes.append(UnsafeBufferPointer(start: variable, count: strlen(variable) + 1))
                next += 1
            }
        }
        return try MemoryFile.holding(bytes)
    }

    private static func isNamed(_ name: String, _ variable: UnsafeMutablePointer<CChar>) -> Bool {
        let count = name.utf8.count
        return strncmp(variable, name, count) == 0 && variable[count] == CChar(clamping: UInt8(ascii: "="))
    }
}
