import CLibrary
import SystemLibraries

/// Takes away the daemon's access to all files but its own (Landlock, landlock(7)).
///
/// A confined process cannot see which file another one runs.
enum FileConfinement {
    private static let createRuleset = 444
    private static let addRule = 445
    private static let restrictSelf = 446

    /// LANDLOCK_ACCESS_FS_… of linux/landlock.h, as of the first version.
    private static let all: UInt64 = 0x1FFF
    private static let readFile: UInt64 = 1 << 2
    private static let readFolder: UInt64 = 1 << 3

    /// - Parameters:
    ///   - own: Folders in which everything is allowed except running programs.
    ///   - readable: Files and folders to read.
    /// - Returns: 0, or -1 with `errno` set. The rules hold for this thread and those that it starts.
    static func apply(own: [String], readable: [String]) -> Int {
        var handled = all
        let rules = systemCall(createRuleset, withUnsafeMutablePointer(to: &handled) { Int(bitPattern: $0) }, 8, 0)
        guard rules >= 0 else { return -1 }
        defer { close(Int32(truncatingIfNeeded: rules)) }
        let execute: UInt64 = 1 << 0
        for path in own { guard allow(all & ~execute, path, rules) else { return -1 } }
        for path in readable { guard allow(readFile | readFolder, path, rules) else { return -1 } }
        return systemCall(restrictSelf, rules, 0)
    }

    /// Adds a rule for a file or folder. Does nothing if it does not exist.
    private static func allow(_ access: UInt64, _ path: String, _ rules: Int) -> Bool {
        // O_PATH (asm-generic/fcntl.h), a GNU name that Swift does not see.
        let place = open(path, 0x20_0000 | O_CLOEXEC)
        guard place >= 0 else { return errno == ENOENT }
        defer { close(place) }
        var info = stat()
        guard fstat(place, &info) == 0 else { return false }
        let isFolder = info.st_mode & S_IFMT == S_IFDIR
        // `struct landlock_path_beneath_attr`, packed: rights, then a descriptor.
        var rule = [UInt8](repeating: 0, count: 12)
        let rights = isFolder ? access : access & (readFile | 1 << 1)
        rule.withUnsafeMutableBytes {
            $0.storeBytes(of: rights, as: UInt64.self)
            $0.storeBytes(of: place, toByteOffset: 8, as: Int32.self)
        }
        return rule.withUnsafeMutableBytes { bytes in
            systemCall(addRule, rules, 1, bytes.baseAddress.map { Int(bitPattern: $0) } ?? 0, 0) == 0
        }
    }
}
