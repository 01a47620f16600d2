import CommandKit
import Foundation
import KeychainModel
import Testing

@testable import RunCommands

/// What `keychain run` takes for a reference, and for a template.
@Suite struct SecretReferenceTests {
    @Test func partsAreDecoded() throws {
        let plain = try SecretReference("keychain://com.example.db/alice@example.com:1")
        #expect(plain.service == "com.example.db" && plain.account == "alice@example.com:1")
        #expect(plain.group == nil && plain.synchronizable == .any)
        let encoded = try SecretReference(
            "keychain://My%20service%2Fv2%3A80%40x/%C3%BC%2F%25?synchronizable=no&group=a%26b%20%2Bc")
        #expect(encoded.service == "My service/v2:80@x" && encoded.account == "ü/%")
        #expect(encoded.group == "a&b +c" && encoded.synchronizable == .localOnly)
        #expect(try SecretReference("keychain://a/b?synchronizable=yes").synchronizable == .synchronizableOnly)
    }

    @Test(arguments: [
        "", "hunter2", "keychain:", "keychain:/a/b", "keychain://", "keychain://a", "keychain://a/", "keychain:///b",
        "keychain://a/b/c", "keychain://a/b/", "keychain://a b/c", "keychain://a/ü", "keychain://ü/a",
        "keychain://user@a/b", "keychain://user:pw@a/b", "keychain://@a/b", "keychain://a:80/b", "keychain://a:/b",
        "keychain://a/b#c", "keychain://a/%zz", "keychain://a/%FF", "keychain://%FF/b", "keychain://a/b?=x",
        "keychain://a/b?group", "keychain://a/b?group=", "keychain://a/b?group=1&group=2", "keychain://a/b?other=1",
        "keychain://a/b?synchronizable=maybe", "Keychain://a/b", " keychain://a/b", "keychain://a/b ",
        "keychain://a/b\r",
    ])
    func othersAreRefused(text: String) {
        #expect {
            try SecretReference(text)
        } throws: { error in
            guard let problem = error as? SecretReference.Problem else { return false }
            return !problem.reason.contains("hunter2")
        }
    }

    @Test(arguments: ["A", "_", "a1_B", "PATH"]) func names(name: String) {
        #expect(RunVariable.parts(of: "\(name)=x=y")?.rest == "x=y")
    }

    @Test(arguments: ["", "1", "A-B", "A B", "é", "A.B", " A"]) func otherNames(name: String) {
        #expect(RunVariable.parts(of: "\(name)=x") == nil)
    }

    @Test func templatesAreFilled() throws {
        let text =
            "a {{keychain://s/1}}{{ keychain://s/2\t}}\n{{ x }} {{{ keychain://s/1 }}} {{\nkeychain://s/3 }} }}{{"
        let segments = try SecretTemplate.segments(of: Data(text.utf8), "in")
        var lines: [Int] = []
        let filled = segments.map { segment in
            switch segment {
            case .text(let bytes): return String(decoding: bytes, as: UTF8.self)
            case .secret(let reference, let line):
                lines.append(line)
                return "<\(reference.account)>"
            }
        }.joined()
        #expect(filled == "a <1><2>\n{{ x }} {<1>} {{\nkeychain://s/3 }} }}{{")
        #expect(lines == [1, 1, 2])
    }

    @Test(arguments: [
        "{{ keychain://s }}", "{{ keychain://s/a", "{{ keychain://s/a }\n}}", "{{ keychain://s/a?x=1 }}",
        "{{ keychain://s/a | quote }}", "no reference", "{{ other }}", "keychain://s/a", "",
    ])
    func otherTemplatesAreRefused(text: String) {
        #expect(throws: Failure.self) { try SecretTemplate.segments(of: Data(text.utf8), "in") }
    }
}
