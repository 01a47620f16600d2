import CLibrary

/// The environment of this process.
package enum Environment {
    /// Returns the value of a variable, or nil if it is missing or empty.
    ///
    /// In a program with raised privileges (set-user-ID, set-group-ID or file capabilities) every variable is missing:
    /// the user who starts such a program chooses the environment, and must not choose which vault, daemon or pinentry
    /// it uses.
    package static func value(of name: String) -> String? {
        guard !isRaised, let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }

    /// Returns the absolute path in a variable, or nil if it has none.
    package static func path(in name: String) -> String? {
        value(of: name).flatMap { $0.hasPrefix("/") ? $0 : nil }
    }

    /// Whether the kernel raised the privileges of this program when it started it: AT_SECURE of getauxval(3), which
    /// stays true if the program changes its user afterwards.
    package static let isRaised: Bool = {
        typealias GetValue = @convention(c) (UInt) -> UInt
        let secure: UInt = 23  // AT_SECURE (elf.h)
        guard let get: GetValue = libraryFunction("getauxval") else {
            return getuid() != geteuid() || getgid() != getegid()
        }
        return get(secure) != 0
    }()
}
