import ArgumentParser
import Bytes
import CLibrary
import FoundationEssentials
import OpenSSLCertificates
import StatusCodes

/// Reads what a key works on: bytes from outside, and no secret of the keychain.
package enum BytesInput {
    /// The largest input. More can be signed by its digest.
    private static let limit = 512 << 20

    /// Reads everything on standard input.
    package static func readAll() throws -> Data {
        try readAll(0, "standard input", limit, "sign its digest with --digest, or encrypt a key for it")
    }

    package static func readAll(path: String) throws -> Data {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path, errno) }
        defer { close(descriptor) }
        return try readDocument(descriptor, path)
    }

    /// Reads a file of certificates, keys or signatures on standard input.
    package static func readDocument() throws -> Data { try readDocument(0, "standard input") }

    /// Reads a file that another program exported, or standard input for `-`.
    ///
    /// - Parameter limit: The most bytes that are read.
    package static func readExport(_ path: String, limit: Int) throws -> Data {
        let descriptor = path == "-" ? 0 : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path, errno) }
        defer { if descriptor > 0 { close(descriptor) } }
        return try readAll(
            descriptor, path == "-" ? "standard input" : path, limit, "export fewer entries at a time")
    }

    private static func readDocument(_ descriptor: Int32, _ name: String) throws -> Data {
        try readAll(descriptor, name, ExchangeFile.largest, "name a file with certificates, keys or a signature")
    }

    private static func readAll(
        _ descriptor: Int32, _ name: String, _ limit: Int, _ remedy: String
    ) throws -> Data {
        do throws(DescriptorReader.Failure) {
            return try DescriptorReader.readAll(descriptor, limit: limit)
        } catch {
            switch error {
            case .tooLong:
                throw Failure(
                    status: errSecDataTooLarge,
                    "\(name.escapedForTerminal) has more than \(limit >> 20) MiB: \(remedy)")
            case .system(let code): throw failure(name, code)
            }
        }
    }

    private static func failure(_ name: String, _ code: Int32) -> Failure {
        Failure(
            status: errSecIO, exitCode: ExitStatus.other,
            "\(name.escapedForTerminal) cannot be read (\(String(cString: strerror(code)))): "
                + "name a file that you can read")
    }
}

/// The form in which bytes are written.
package enum BytesEncoding: String, CaseIterable, ExpressibleByArgument {
    case raw, hex, base64

    package func encoding(of bytes: Data) -> Data {
        switch self {
        case .raw: bytes
        case .hex: Data((bytes.hexadecimal() + "\n").utf8)
        case .base64: Data((bytes.base64EncodedString() + "\n").utf8)
        }
    }

    /// Returns the bytes in `text`, or nil if it is not in this form.
    package func decoding(_ text: Data) -> Data? {
        let digits = String(decoding: text, as: UTF8.self).filter { !$0.isWhitespace }
        switch self {
        case .raw: return text
        case .base64: return Data(base64Encoded: digits)
        case .hex: return [UInt8](hexadecimal: digits.utf8).map { Data($0) }
        }
    }
}

/// Writes bytes to standard output, but no binary ones to a terminal, which would take them for commands.
package enum BytesOutput {
    package static func write(_ bytes: Data, isText: Bool = false, remedy: String = "send it to a file") throws {
        guard !StandardOutput.isTerminal || isText || isPrintable(bytes) else {
            throw Failure(
                status: errSecParam, "the result is binary and standard output is a terminal: \(remedy)")
        }
        try StandardOutput.write(bytes)
    }

    package static func isPrintable(_ bytes: Data) -> Bool {
        guard let text = String(validating: bytes, as: UTF8.self) else { return false }
        return text.unicodeScalars.allSatisfy { scalar in
            scalar == "\n" || scalar == "\t" || !(scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value))
        }
    }
}
