import ArgumentParser
import FoundationEssentials
import Glibc
import OpenSSLCertificates
import SecureMemory
import StatusCodes

/// What a key works on: bytes that somebody pipes in, and no secret of the keychain's.
enum BytesInput {
    /// More is signed by its digest.
    private static let limit = 512 << 20

    /// Everything on standard input.
    static func readAll() throws(Failure) -> Data {
        try readAll(0, "standard input", limit, "sign its digest with --digest, or encrypt a key for it")
    }

    static func readAll(path: String) throws(Failure) -> Data {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path, errno) }
        defer { close(descriptor) }
        return try readDocument(descriptor, path)
    }

    /// A file of certificates, keys or signatures on standard input.
    static func readDocument() throws(Failure) -> Data { try readDocument(0, "standard input") }

    private static func readDocument(_ descriptor: Int32, _ name: String) throws(Failure) -> Data {
        try readAll(descriptor, name, ExchangeFile.largest, "name a file with certificates, keys or a signature")
    }

    private static func readAll(
        _ descriptor: Int32, _ name: String, _ limit: Int, _ remedy: String
    ) throws(Failure) -> Data {
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
            "\(name.escapedForTerminal) cannot be read (\(String(cString: strerror(code)))): name a file that can")
    }
}

/// How bytes are written.
enum BytesEncoding: String, CaseIterable, ExpressibleByArgument {
    case raw, hex, base64

    func encoding(of bytes: Data) -> Data {
        switch self {
        case .raw: bytes
        case .hex: Data((bytes.hexadecimal(uppercase: false) + "\n").utf8)
        case .base64: Data((bytes.base64EncodedString() + "\n").utf8)
        }
    }

    /// The bytes in `text`; nil if it is not so encoded.
    func decoding(_ text: Data) -> Data? {
        let digits = String(decoding: text, as: UTF8.self).filter { !$0.isWhitespace }
        switch self {
        case .raw: return text
        case .base64: return Data(base64Encoded: digits)
        case .hex:
            guard digits.utf8.count % 2 == 0, digits.allSatisfy(\.isHexDigit) else { return nil }
            var bytes = Data()
            var rest = digits.utf8[...]
            while let high = rest.popFirst(), let low = rest.popFirst() {
                guard let byte = UInt8(String(decoding: [high, low], as: UTF8.self), radix: 16) else { return nil }
                bytes.append(byte)
            }
            return bytes
        }
    }
}

/// Bytes on standard output, which is spared what a terminal would take for commands.
enum BytesOutput {
    static func write(_ bytes: Data, isText: Bool = false, remedy: String = "send it to a file") throws(Failure) {
        guard !StandardOutput.isTerminal || isText || isPrintable(bytes) else {
            throw Failure(
                status: errSecParam, "the result is binary and standard output a terminal: \(remedy)")
        }
        try StandardOutput.write(bytes)
    }

    static func isPrintable(_ bytes: Data) -> Bool {
        guard let text = String(validating: bytes, as: UTF8.self) else { return false }
        return text.unicodeScalars.allSatisfy { scalar in
            scalar == "\n" || scalar == "\t" || !(scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value))
        }
    }
}
