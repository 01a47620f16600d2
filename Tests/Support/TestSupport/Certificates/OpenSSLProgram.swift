import Foundation
import Testing

/// The program `openssl`, with a folder for what it reads and writes.
package struct OpenSSLProgram: Sendable {
    private let folder: TemporaryFolder

    package init() throws { folder = try TemporaryFolder() }

    package func path(_ name: String) -> String { folder.path(of: name) }

    package func read(_ name: String) throws -> Data { try Data(contentsOf: URL(filePath: path(name))) }

    /// Writes a file and returns its path.
    @discardableResult
    package func write(_ content: Data, to name: String) throws -> String {
        try FolderContents.write(content, to: path(name))
        return path(name)
    }

    package func write(_ text: String, to name: String) throws { try write(Data(text.utf8), to: name) }

    /// Runs the program in its folder and returns what it prints.
    ///
    /// - Throws: ``Failure`` if its exit code is not 0.
    @discardableResult
    package func run(_ arguments: [String], input: Data = Data()) throws -> ProgramOutcome {
        let outcome = try start(arguments, input: input)
        guard outcome.status == 0 else { throw Failure(arguments: arguments, said: outcome.text + outcome.errors) }
        return outcome
    }

    /// Runs the program in its folder, whatever its exit code is.
    package func start(_ arguments: [String], input: Data = Data()) throws -> ProgramOutcome {
        try ProgramStart(["openssl"] + arguments, folder: folder.path).run(input: input)
    }

    /// Whether the program ends with 0.
    package func succeeds(_ arguments: [String]) throws -> Bool { try start(arguments).status == 0 }

    /// What the program writes to the file of its option `-out`.
    package func output(_ arguments: [String]) throws -> Data {
        let name = "\(UUID()).output"
        try run(arguments + ["-out", name])
        return try read(name)
    }

    /// What the program writes to its standard output.
    package static func output(_ arguments: [String], input: Data) throws -> Data {
        try OpenSSLProgram().run(arguments, input: input).output
    }

    /// The program does not do what it is told.
    package struct Failure: Error, CustomStringConvertible {
        let arguments: [String]
        let said: String

        package var description: String { "openssl \(arguments.joined(separator: " ")): \(said)" }
    }
}
