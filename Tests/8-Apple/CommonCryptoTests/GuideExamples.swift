import CommonCrypto
import Foundation
import TestSupport
import Testing

/// The example of Documentation/Use/SecurityModule.md, run, and the check that it is the same.
@Suite struct GuideExamples {
    @Test func digestOfAMessage() throws {
        let message = [UInt8]("a message".utf8)
        var digest = [UInt8](repeating: 0, count: Int(CC_SHA256_DIGEST_LENGTH))
        CC_SHA256(message, CC_LONG(message.count), &digest)
        // `printf 'a message' | openssl dgst -sha256`
        #expect(Data(digest).hex == "f53c09ca39717a45c62d9aca8f8113eddbfd5f81dcab0b33b1c1834075225e68")

        let run = try Self.lines(of: URL(filePath: #filePath))
        let page = Repository.file("Documentation/Use/SecurityModule.md")
        let example = try Self.lines(of: page).drop { $0 != "import CommonCrypto" }.dropFirst().prefix { $0 != "```" }
        #expect(example.count == 3)
        #expect(run.firstRange(of: example) != nil)
    }

    private static func lines(of file: URL) throws -> [String] {
        try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            .map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
