import CLibrary

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
