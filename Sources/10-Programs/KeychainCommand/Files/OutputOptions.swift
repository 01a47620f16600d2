import ArgumentParser

/// Where commands that make one file of another put it.
struct OutputOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Where to write one file; '-' is standard output.", valueName: "file"))
    var output: String?

    @Flag(help: "Replace files that exist.")
    var force = false

    /// - Parameters:
    ///   - paths: The files that are read.
    ///   - json: Whether the answer, which takes standard output, is JSON.
    func validate(_ paths: [String], json: Bool) throws {
        if output != nil, paths.count != 1 { throw ValidationError("--output goes with one file") }
        if paths.count > 1, paths.contains("-") { throw ValidationError("'-' goes alone") }
        if json, isStandardOutput(for: paths) { throw ValidationError("--json needs --output, which is not '-'") }
    }

    func isStandardOutput(for paths: [String]) -> Bool { output.map { $0 == "-" } ?? (paths == ["-"]) }
}
