import Foundation
import TestSupport
import Testing

/// The declarations in CTSS2 against the headers of the TPM2 Software Stack.
@Suite struct LayoutTests {
    private static let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

    /// Compiles a file of `Layout`.
    private func compile(_ name: String, _ arguments: String...) throws -> (status: Int32, output: String) {
        let headers = Self.here.appendingPathComponent("../../Sources/CTSS2").path
        return try run(
            ["clang", "-Wall", "-Werror", "-I\(headers)", Self.here.appendingPathComponent("Layout/\(name)").path]
                + arguments)
    }

    private func run(_ arguments: [String]) throws -> (status: Int32, output: String) {
        let run = try ProgramStart(arguments).run()
        return (run.status, run.text + run.errors)
    }

    @Test func structuresAreLaidOutAsTheStackHasThem() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("layout-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func layout(_ arguments: String...) throws -> [String] {
            let program = folder.appendingPathComponent("layout").path
            let compiled = try compile("layout.c", "-o", program, arguments.first ?? "-DHERE")
            try #require(compiled.status == 0, "\(compiled.output)")
            return try run([program]).output.split(separator: "\n").map(String.init)
        }
        let here = try layout()
        let there = try layout("-DSTACK")
        #expect(here.count > 60)
        #expect(here.count == there.count)
        for (here, there) in zip(here, there) { #expect(here == there) }
    }

    @Test func functionsTakeWhatTheStackTakes() throws {
        let compiled = try compile("functions.c", "-fsyntax-only")
        #expect(compiled.status == 0, "\(compiled.output)")
    }
}
