import Foundation
import Glibc
import TestSupport
import Testing

/// A program that the kernel raised to another user does not follow the environment of whoever started it.
@Suite struct RaisedPrivilegesTests {
    private let place: Workplace
    private let raised: String

    init() throws {
        try #require(geteuid() == 0, "the test makes a set-user-ID program, which takes root")
        place = try Workplace()
        raised = place.path + "/bin/raised"
        // By another process: one that this one starts meanwhile would inherit the file open for writing, and a file
        // that is open for writing cannot be run.
        #expect(try place.shell("cp bin/keychain bin/raised && chmod 4755 bin/raised && chmod 755 . bin").status == 0)
    }

    /// What `keychain WORDS` prints to another user, raised to root or not.
    private func says(_ words: String, with variables: String, raised isRaised: Bool) throws -> String {
        let program = isRaised ? raised : place.path + "/bin/plain"
        if !isRaised { #expect(try place.shell("cp bin/keychain bin/plain && chmod 755 bin/plain").status == 0) }
        let outcome = try place.shell(
            "env -i \(variables) setpriv --reuid 65534 --clear-groups '\(program)' </dev/null \(words) 2>&1")
        return String(decoding: outcome.output, as: UTF8.self)
    }

    @Test func theEnvironmentChoosesNoVault() throws {
        let variables = "KEYCHAIN_MODE=nonsense KEYCHAIN_HOME='\(place.path)/theirs' HOME='\(place.path)'"
        #expect(try says("list", with: variables, raised: false).contains("KEYCHAIN_MODE is 'nonsense'"))
        #expect(try says("list", with: variables, raised: true).contains("raised privileges"))
        #expect(access(place.path + "/theirs", F_OK) != 0)
    }

    @Test func theEnvironmentChoosesNoPinentry() throws {
        let pinentry = place.path + "/bin/pinentry"
        try Data("#!/bin/sh\nid -u > '\(place.path)/started'\n".utf8).write(to: URL(fileURLWithPath: pinentry))
        chmod(pinentry, 0o755)
        chmod(place.path, 0o777)
        try Data("123456".utf8).write(to: URL(fileURLWithPath: place.path + "/passcode"))
        chmod(place.path + "/passcode", 0o644)
        let variables = "KEYCHAIN_PINENTRY='\(pinentry)' KEYCHAIN_HOME='\(place.path)/vault' HOME='\(place.path)'"
        let setting = "passcode set --new-passcode-fd 3 3<'\(place.path)/passcode'"
        _ = try says(setting, with: variables, raised: true)
        _ = try says("get mail ada", with: variables, raised: true)
        #expect(access(place.path + "/started", F_OK) != 0)
        // The very same does start it without raised privileges.
        _ = try says(setting, with: variables, raised: false)
        _ = try says("set mail ada --require presence <'\(place.path)/passcode'", with: variables, raised: false)
        _ = try says("get mail ada", with: variables, raised: false)
        #expect(try String(contentsOfFile: place.path + "/started", encoding: .utf8) == "65534\n")
    }
}
