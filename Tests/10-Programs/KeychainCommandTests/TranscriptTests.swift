import Foundation
import TestSupport
import Testing

@Suite struct TranscriptTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/Transcripts"

    @Test(arguments: [
        "passcode", "passwords", "groups", "input", "output", "json", "usage", "places", "requirements", "audit",
        "keys", "keys-locked", "exchange",
        "files", "password-files", "databases", "sqlcipher-files", "run", "transfer", "history", "rekey",
        "stored-keys", "moved-databases", "recovery", "vault-files", "change", "import", "import-files", "at-hand",
        "browsers", "circle", "circle-machines",
    ])
    func session(_ name: String) throws { try play(name) }

    @Test(arguments: [
        "certificates", "generic", "internet", "keychain", "keychains", "lines", "names", "trust",
    ])
    func sessionOfMacOS(_ name: String) throws { try play("security-\(name)") }

    private func play(_ name: String) throws {
        let workplace = try Workplace()
        let page = try OutputPage()
        #expect(page.commands > 40)
        let text = try String(contentsOfFile: "\(Self.folder)/\(name).txt", encoding: .utf8)
        for step in Transcript(text, home: workplace.home).steps {
            let outcome = try workplace.shell(step.command)
            let place = Comment(rawValue: "\(name).txt:\(step.line): \(step.command)\n\(outcome.text)\(outcome.errors)")
            #expect(Transcript.matches(Transcript.lines(outcome.text), step.output), place)
            #expect(Transcript.matches(Transcript.lines(outcome.errors), step.errors), place)
            #expect(outcome.status == step.status, place)
            #expect(page.strangers(in: outcome.text, of: step.command) == [], place)
        }
    }

    @Test func everyTranscriptIsRun() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder).filter { $0.hasSuffix(".txt") }
        #expect(files.count == 40)
    }
}
