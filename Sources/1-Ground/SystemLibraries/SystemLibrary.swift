import CLibrary

/// A library of the system that is loaded when it is needed. Without it, everything else still builds and runs.
package final class SystemLibrary: Sendable {
    // Safe to share between threads: the handle is never closed, and any thread may call dlsym (dlsym(3)).
    nonisolated(unsafe) private let handle: UnsafeMutableRawPointer
    package let name: String

    /// - Parameters:
    ///   - name: With the version of the interface, as in `libfuse3.so.3`.
    ///   - provides: What a person cannot use without the library, for the error message.
    package init(_ name: String, provides: String) throws(SystemLibraryError) {
        guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else {
            throw SystemLibraryError(library: name, symbol: nil, provides: provides)
        }
        self.handle = handle
        self.name = name
        self.provides = provides
    }

    private let provides: String

    // Never unloaded, because libraries leave exit handlers of threads behind.

    /// Returns the function called `symbol` as a `Function`, which must be the type that the library's header declares.
    package func function<Function>(
        _ symbol: String, as type: Function.Type = Function.self
    ) throws(SystemLibraryError) -> Function {
        guard let function: Function = libraryFunction(symbol, in: handle) else {
            throw SystemLibraryError(library: name, symbol: symbol, provides: provides)
        }
        return function
    }
}

/// The error for a missing library, or for a library that lacks a function.
package struct SystemLibraryError: Error, Equatable, CustomStringConvertible {
    package var library: String
    /// Nil if the whole library is missing.
    package var symbol: String?
    package var provides: String

    package init(library: String, symbol: String?, provides: String) {
        self.library = library
        self.symbol = symbol
        self.provides = provides
    }

    package var description: String {
        if let symbol {
            "\(library) is too old for \(provides): it has no \(symbol); install a newer one"
        } else {
            "there is no \(library) on this machine, which \(provides) needs; install it"
        }
    }
}

/// Returns a C function that no Swift module declares; nil if the library does not have it.
///
/// - Parameters:
///   - symbol: The name of the function. `Function` must be the type that its header declares.
///   - library: A handle from `dlopen`; nil for the libraries that this program is linked with, including the C
///     library.
package func libraryFunction<Function>(_ symbol: String, in library: UnsafeMutableRawPointer? = nil) -> Function? {
    guard let address = dlsym(library, symbol) else { return nil }
    precondition(MemoryLayout<Function>.size == MemoryLayout<UnsafeMutableRawPointer>.size)
    // A C function pointer is the address itself. The precondition excludes closures.
    return unsafeBitCast(address, to: Function.self)
}
