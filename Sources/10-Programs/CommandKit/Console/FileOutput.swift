import CLibrary
import FoundationEssentials
import StatusCodes

/// Writes, and reports what went wrong. Buffered output would lose an error at exit.
package enum FileOutput {
    package static func write(_ bytes: Data, to descriptor: Int32) throws(Failure) {
        let code = bytes.withUnsafeBytes { put($0, to: descriptor) }
        guard code == 0 else { throw failure(code) }
    }

    /// Writes all of `bytes`.
    ///
    /// - Returns: The system's error number, or 0.
    package static func put(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32 {
        SystemCall.writeAll(bytes, to: descriptor) ? 0 : errno
    }

    private static func failure(_ code: Int32) -> Failure {
        switch code {
        case EPIPE:
            Failure(
                status: errSecIO,
                "the reader of the output went away before everything was written: let it read to the end")
        case ENOSPC, EDQUOT:
            Failure(
                status: errSecDiskFull, exitCode: ExitStatus.other,
                "no space left to write the output: free some, or write elsewhere")
        default:
            Failure(
                status: errSecIO, exitCode: ExitStatus.other,
                "the output cannot be written (\(String(cString: strerror(code)))): open standard output for writing")
        }
    }
}

package enum StandardOutput {
    package static var isTerminal: Bool { isatty(1) == 1 }

    package static func write(_ bytes: Data) throws(Failure) { try FileOutput.write(bytes, to: 1) }

    /// Writes `text` and a newline.
    package static func write(line text: String) throws(Failure) {
        try write(Data((text + "\n").utf8))
    }

    package static func write(json value: some Encodable) throws(Failure) {
        let text: String
        do {
            text = try JSON.string(value)
        } catch {
            throw Failure(status: errSecDecode, "the result cannot be written as JSON: leave out --json")
        }
        try write(line: text)
    }
}

package enum JSON {
    package static func string(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}
