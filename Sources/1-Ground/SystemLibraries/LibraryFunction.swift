import Glibc

/// A function of a library that no module of Swift's shows; nil where the library has none.
///
/// - Parameters:
///   - symbol: Its name; `Function` must be the type that its header declares.
///   - library: What `dlopen` gave; nil for what this program is linked with, the C library among it.
package func libraryFunction<Function>(_ symbol: String, in library: UnsafeMutableRawPointer? = nil) -> Function? {
    guard let address = dlsym(library, symbol) else { return nil }
    precondition(MemoryLayout<Function>.size == MemoryLayout<UnsafeMutableRawPointer>.size)
    // A C function pointer has the representation of the address; the precondition rules out closures.
    return unsafeBitCast(address, to: Function.self)
}
