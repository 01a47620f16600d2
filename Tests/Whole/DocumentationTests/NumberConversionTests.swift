import Foundation
import TestSupport
import Testing

/// No conversion of a number ends the program if the number does not fit: `TrappingConversions.swift` hides those that
/// would, and the compiler refuses them in each file that imports `PlainBytes`, or `Bytes`, which has all of that.
@Suite struct NumberConversionTests {
    private static let root = Repository.root

    /// A conversion without a label, by a type's name or by the name of a type of C, and a duration of a variable.
    private static func mayTrap(_ text: String) -> Bool {
        text.split(separator: "\n").contains { line in
            // Most lines have neither, and cost little.
            guard line.utf8.contains(UInt8(ascii: "(")) || line.hasSuffix(".init"),
                ["Int", "_t(", "conds(", "Cast("].contains(where: line.contains)
            else { return false }
            let code = line.replacing(#/\/\/.*/#, with: "")
            return code.contains(conversion) || code.contains(#/\bU?Int(?:8|16|32|64)?\.init\b(?!\()/#)
                || code.contains(#/numericCast\(/#)
                || code.contains(#/\.(?:seconds|milliseconds|microseconds)\([^0-9)]/#)
        }
    }

    nonisolated(unsafe) private static let conversion =
        #/(?:^|[^\w.])(?:U?Int(?:8|16|32|64)?|C(?:Int|Long|Short|UnsignedInt|UnsignedLong|Char)|[a-z]+_t)\((?!\)|_?\w+:)/#

    private static func isChecked(_ text: String) -> Bool {
        text.contains(#/(?:^|\n)(?:package |public )?import (?:Plain)?Bytes\n/#)
    }

    @Test func everyFileThatConvertsNumbersIsChecked() throws {
        let files = FileManager.default.enumerator(
            at: Self.root.appending(path: "Sources"), includingPropertiesForKeys: nil)
        var count = 0
        for case let file as URL in try #require(files) where file.pathExtension == "swift" {
            // PlainBytes declares them. CLibrary, which stands below it, has two offsets of a file, of the type Int64.
            guard !["/1-Ground/PlainBytes/", "/1-Ground/CLibrary/"].contains(where: file.path.contains) else {
                continue
            }
            let text = try String(contentsOf: file, encoding: .utf8)
            guard Self.mayTrap(text) else { continue }
            count += 1
            #expect(Self.isChecked(text), "\(file.path) converts numbers and does not import Bytes")
        }
        #expect(count > 150)
    }

    @Test func conversionsAreSeen() {
        for text in [
            "Int(x)", "let a = UInt64(date.x)", "[Int32(clamp(x))]", "off_t(size)", ".map(Int.init)", "\nInt8(\n",
        ] {
            #expect(Self.mayTrap(text), "\(text)")
        }
        for text in [
            "Int(clamping: x)", "UInt64(exactly: x)", "// Int(x)", "point(x)", "x.Int(y)", "Int()", ".seconds(5)",
        ] {
            #expect(!Self.mayTrap(text), "\(text)")
        }
    }

    /// The compiler with the modules that these tests were built with.
    @Test func compilerRefusesPlantedConversions() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "conversions-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // Each on a line of its own. Those of the first function trap, those of the second always fit.
        let refused = [
            "Int(real)", "UInt64(max(0, real))", "Int64(real * 1_000)", "UInt32(real)", "Int32(single)",
            "Int(unsigned)",
            "Int64(unsigned)", "UInt64(signed)", "UInt(signed)", "UInt8(signed)", "UInt16(signed)", "UInt32(signed)",
            "Int32(signed)", "Int16(word)", "UInt8(half)", "UInt32(unsigned)", "Int8(byte)", "[real].map(Int.init)",
            "[signed].map(UInt64.init)", "Duration.seconds(real)", "Duration.milliseconds(real)",
        ]
        let allowed = [
            "Int(byte)", "Int(half)", "Int(word)", "UInt64(word)", "Int64(signed)", "Double(signed)", "UInt8(7)",
            "Int(clamping: real)", "UInt8(truncatingIfNeeded: signed)", "Int(exactly: real) as Any",
            "Duration.seconds(signed)",
        ]
        let parameters =
            "_ real: Double, _ single: Float, _ signed: Int, _ unsigned: UInt64, _ byte: UInt8, _ half: UInt16, _ word: UInt32"
        let source = """
            import Bytes
            import FoundationEssentials
            func refused(\(parameters)) {
            \(refused.map { "_ = \($0)" }.joined(separator: "\n"))
            }
            func allowed(\(parameters)) {
            \(allowed.map { "_ = \($0)" }.joined(separator: "\n"))
            }
            """
        try Data(source.utf8).write(to: folder.appending(path: "Planted.swift"))
        let said = try compile("Planted.swift", in: folder)
        let lines = Set(
            said.matches(of: #/Planted\.swift:(\d+):\d+: error: .*traps if the number/#).compactMap { Int($0.1) })
        #expect(lines == Set(4..<(4 + refused.count)), "\(said)")
        #expect(!said.contains(#/Planted\.swift:\d+:\d+: error: (?!.*traps if the number)/#), "\(said)")
    }

    /// Type-checks a file as a part of this package, with warnings as errors, and returns what the compiler says.
    private func compile(_ name: String, in folder: URL) throws -> String {
        // The package's name for the compiler is that of its folder.
        let package = String(
            Self.root.lastPathComponent.lowercased().map { $0.isLetter || $0.isNumber ? $0 : "_" } as [Character])
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let modules = URL(filePath: program).deletingLastPathComponent().appending(path: "Modules")
        let output = folder.appending(path: "said")
        try Data().write(to: output)
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "swiftc", "-typecheck", "-swift-version", "6", "-warnings-as-errors", "-package-name", package, "-I",
            modules.path, name,
        ]
        process.currentDirectoryURL = folder
        // The compiler leaves files of its own.
        process.environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": folder.path]) { $1 }
        let handle = try FileHandle(forWritingTo: output)
        (process.standardOutput, process.standardError) = (handle, handle)
        try process.run()
        process.waitUntilExit()
        return try String(contentsOf: output, encoding: .utf8)
    }
}
