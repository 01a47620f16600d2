import Glibc

/// A function of the C library that Swift's module of it does not show; nil where the library has none.
///
/// - Parameter symbol: Its name; `Function` must be the type that its header declares.
package func libraryFunction<Function>(_ symbol: String) -> Function? {
    guard let address = dlsym(nil, symbol) else { return nil }
    precondition(MemoryLayout<Function>.size == MemoryLayout<UnsafeMutableRawPointer>.size)
    // A C function pointer has the representation of the address; the precondition rules out closures.
    return unsafeBitCast(address, to: Function.self)
}
