import CLibrary
import FoundationEssentials

/// The names of browsers.
enum BrowserName {
    /// The name of the program that started this one.
    static var ofParent: String? {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(getppid())/exe")).flatMap(name)
    }

    /// Returns the last part of a path, if it is a word for a name.
    static func name(_ path: String) -> String? {
        let last = path.split(separator: "/").last ?? ""
        let isPlain = last.utf8.allSatisfy { byte in
            (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || "-_.".utf8.contains(byte)
        }
        return isPlain && (1...40).contains(last.utf8.count) ? String(last) : nil
    }
}
