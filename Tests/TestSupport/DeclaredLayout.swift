import Foundation
import Testing

/// Compares declarations of a library's interface that this package has with the library's own headers.
package struct DeclaredLayout {
    /// With `layout.c`, which prints sizes and offsets, and `functions.c`, which compiles if functions agree.
    private let sources: URL
    private let flags: [String]

    /// - Parameters:
    ///   - sources: The folder that the C files are in.
    ///   - module: The floor and the name of the module that has the declarations.
    ///   - flags: What the library's headers need.
    package init(_ sources: URL, module: String, flags: [String] = []) {
        self.sources = sources
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../..")
        self.flags = ["-I\(root.appendingPathComponent("Sources/\(module)").path)"] + flags
    }

    private func compile(_ name: String, _ arguments: [String]) throws -> ProgramOutcome {
        try ProgramStart(
            ["clang", "-Wall", "-Werror"] + flags + [sources.appendingPathComponent(name).path] + arguments
        ).run()
    }

    /// The lines that `layout.c` prints.
    ///
    /// - Parameter choice: The macro that chooses whose declarations are printed.
    package func lines(_ choice: String) throws -> [String] {
        let folder = try TemporaryFolder()
        let program = folder.path(of: "layout")
        let compiled = try compile("layout.c", ["-o", program, "-D\(choice)"])
        guard compiled.status == 0 else { throw LayoutError(description: compiled.errors) }
        return try ProgramStart([program]).run().text.split(separator: "\n").map(String.init)
    }

    /// What the compiler says of `functions.c`; nothing if all agree.
    package func functionErrors() throws -> String {
        let compiled = try compile("functions.c", ["-fsyntax-only"])
        return compiled.status == 0 ? "" : compiled.text + compiled.errors
    }
}

package struct LayoutError: Error, CustomStringConvertible {
    package let description: String
}
