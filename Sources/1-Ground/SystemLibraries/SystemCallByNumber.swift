import CLibrary

/// Makes a system call that the C library has no function for, or only in versions newer than ours.
///
/// `syscall(2)` takes a variable number of arguments, which Swift cannot call by name. It is written in assembly
/// and takes its arguments where a function with seven fixed ones has them.
package func systemCall(
    _ number: Int, _ first: Int = 0, _ second: Int = 0, _ third: Int = 0, _ fourth: Int = 0
) -> Int {
    typealias Function = @convention(c) (Int, Int, Int, Int, Int, Int, Int) -> Int
    guard let call: Function = libraryFunction("syscall") else {
        errno = ENOSYS
        return -1
    }
    return call(number, first, second, third, fourth, 0, 0)
}
