import Foundation
import Testing

/// Compares this package's declarations of a library's interface with the library's own headers.
package struct DeclaredLayout {
    /// The folder with `layout.c`, which prints sizes and offsets, and `functions.c`, which compiles only if the
    /// functions agree.
    private let sources: URL
    private let flags: [String]

    /// - Parameters:
    ///   - sources: The folder with the C files.
    ///   - module: The floor and the name of the module with the declarations.
    ///   - flags: The compiler flags that the library's headers need.
    package init(_ sources: URL, module: String, flags: [String] = []) {
        self.sources = sources
        let root = Repository.root
        self.flags = ["-I\(root.appendingPathComponent("Sources/\(module)").path)"] + flags
    }

    private func compile(_ name: String, _ arguments: [String]) throws -> ProgramOutcome {
        try ProgramStart(
            ["clang", "-Wall", "-Werror"] + flags + [sources.appendingPathComponent(name).path] + arguments
        ).run()
    }

    /// Returns the lines that `layout.c` prints.
    ///
    /// - Parameter choice: The macro that selects the declarations to print.
    package func lines(_ choice: String) throws -> [String] {
        let folder = try TemporaryFolder()
        let program = folder.path(of: "layout")
        let compiled = try compile("layout.c", ["-o", program, "-D\(choice)"])
        guard compiled.status == 0 else { throw LayoutError(description: compiled.errors) }
        return try ProgramStart([program]).run().text.split(separator: "\n").map(String.init)
    }

    /// Returns the compiler's messages for `functions.c`; empty if everything agrees.
    package func functionErrors() throws -> String {
        let compiled = try compile("functions.c", ["-fsyntax-only"])
        return compiled.status == 0 ? "" : compiled.text + compiled.errors
    }
}

package struct LayoutError: Error, CustomStringConvertible {
    package let description: String
}
