import ArgumentParser

/// Where commands that make a file from another one write it.
package struct OutputOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Where to write one file; '-' is standard output.", valueName: "file"), completion: .file())
    package var output: String?

    @Flag(help: "Replace files that exist.")
    package var force = false

    package init() {}

    /// - Parameters:
    ///   - paths: The files that are read.
    ///   - json: Whether standard output is needed for the answer in JSON.
    package func validate(_ paths: [String], json: Bool) throws {
        if output != nil, paths.count != 1 { throw ValidationError("--output needs exactly one file") }
        if paths.count > 1, paths.contains("-") { throw ValidationError("'-' must be the only file") }
        if json, isStandardOutput(for: paths) { throw ValidationError("--json needs --output with the name of a file") }
    }

    package func isStandardOutput(for paths: [String]) -> Bool { output.map { $0 == "-" } ?? (paths == ["-"]) }
}
