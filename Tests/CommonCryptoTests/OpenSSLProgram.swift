import Foundation
import TestSupport
import Testing

/// The program `openssl`, against which all results are compared.
enum OpenSSLProgram {
    /// Returns what the program writes for `input`.
    static func output(_ arguments: [String], input: Data) throws -> Data {
        let outcome = try ProgramStart(["openssl"] + arguments).run(input: input)
        try #require(outcome.status == 0, "openssl \(arguments.joined(separator: " ")): \(outcome.errors)")
        return outcome.output
    }
}

extension Data {
    init(hex: String) {
        let digits = hex.compactMap(\.hexDigitValue)
        self.init(stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
    }

    var hex: String { map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() }
}
