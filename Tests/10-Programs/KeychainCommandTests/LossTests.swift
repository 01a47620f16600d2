import Foundation
import TestSupport
import Testing

/// What each command takes away, what it asks, and what brings it back: the table in
/// Documentation/Operate/Operation.md, line by line.
@Suite struct LossTests {
    /// A line of the table.
    struct Line: Sendable, CustomTestStringConvertible {
        /// The command, as the table names it.
        let name: String
        /// Makes what is lost.
        let before: String
        /// Takes it away, in a script.
        let command: String
        /// The word to type at a terminal, where the same command asks; nil if it asks nobody.
        var word: String?
        /// The command refuses to go on in a script until it is given this.
        var flag: String?
        /// Brings it back; nil if nothing does.
        var back: String?
        /// False if the command never takes it away.
        var isLost = true
        /// Prints 'here' if it is there.
        let look: String

        var testDescription: String { name }
    }

    private static let password = #"test "$(keychain get s a)" = v && echo here"#
    private static let passcode =
        "printf right > right; keychain passcode set --json --memory 8 --passes 1 --new-passcode-fd 3 3<right >/dev/null; "

    static let lines: [Line] = [
        Line(
            name: "keychain delete", before: "printf v | keychain set s a", command: "keychain delete s a",
            word: "delete", look: password),
        Line(
            name: "keychain delete, versions kept", before: "printf v | keychain set s a --keep 1",
            command: "keychain delete s a", back: "keychain restore s a", look: password),
        Line(
            name: "keychain set", before: "printf v | keychain set s a --keep 1",
            command: "printf w | keychain set s a", back: "keychain restore s a", look: password),
        Line(
            name: "keychain set --attribute", before: "printf v | keychain set s a --attribute x=1 --keep 1",
            command: "printf w | keychain set s a --attribute y=2", back: "keychain restore s a",
            look: "keychain list --attribute x=1 | grep -q s && echo here"),
        Line(
            name: "keychain set --keep, history --default",
            before: "printf v | keychain set s a --keep 1; printf w | keychain set s a",
            command: "printf w | keychain set s a --keep 0", look: "keychain history s a | grep -q former && echo here"),
        Line(
            name: "keychain change, internet change", before: "printf v | keychain set s a --attribute x=1 --keep 1",
            command: "keychain change s a --attribute x=2",
            look: "keychain list --attribute x=1 | grep -q s && echo here"),
        Line(
            name: "keychain restore", before: "printf u | keychain set s a --keep 1; printf v | keychain set s a",
            command: "keychain restore s a", back: "keychain restore s a", look: password),
        Line(
            name: "keychain purge", before: "printf v | keychain set s a --keep 1; printf w | keychain set s a",
            command: "keychain purge s a", word: "purge",
            look: "keychain history s a | grep -q former && echo here"),
        Line(
            name: "keychain erase", before: "printf v | keychain set s a", command: "keychain erase", word: "erase",
            flag: "--yes", look: password),
        Line(
            name: "keychain key delete", before: "keychain key create k", command: "keychain key delete k",
            word: "delete", look: "keychain key public k >/dev/null && echo here"),
        Line(
            name: "keychain internet set", before: "printf v | keychain internet set https://example.org --account a",
            command: "printf w | keychain internet set https://example.org --account a",
            look: #"test "$(keychain internet get https://example.org --account a)" = v && echo here"#),
        Line(
            name: "keychain internet delete",
            before: "printf v | keychain internet set https://example.org --account a",
            command: "keychain internet delete https://example.org --account a", word: "delete",
            look: "keychain internet get https://example.org --account a >/dev/null && echo here"),
        Line(
            name: "keychain security delete-generic-password", before: "printf v | keychain set s a --keep 1",
            command: "security delete-generic-password -s s -a a", back: "keychain restore s a", look: password),
        Line(
            name: "git, docker and cargo: erase",
            before: #"""
                ln -s keychain bin/docker-credential-keychain
                echo '{"ServerURL":"https://r.org","Username":"a","Secret":"v"}' | docker-credential-keychain store
                """#,
            command: "echo https://r.org | docker-credential-keychain erase",
            look: "keychain internet list | grep -q r.org && echo here"),
        Line(
            name: "keychain passcode remove",
            before: passcode
                + "printf v | keychain set s a --accessible when-passcode-set-this-device-only --passcode-fd 3 3<right",
            command: "keychain passcode remove --passcode-fd 3 3<right", word: "remove", flag: "--yes",
            look: "keychain get s a --passcode-fd 3 3<right | grep -q v && echo here"),
        Line(
            name: "keychain recovery create",
            before: "keychain init; keychain recovery create > key; cp home/recovery former",
            command: "keychain recovery create >/dev/null", word: "replace", flag: "--yes",
            look: "cmp -s home/recovery former && echo here"),
        Line(
            name: "keychain recovery restore",
            before: "printf v | keychain set s a --accessible when-unlocked-this-device-only; "
                + "keychain recovery create > key; rm home/device-secret",
            command: "keychain recovery restore --key-fd 3 3< key", word: "restore", flag: "--yes",
            look: "test -e home/device-secret || echo here; keychain get s a"),
        Line(
            name: "keychain rekey",
            before: "printf v | keychain set s a; keychain recovery create > key",
            command: "keychain rekey", look: "test -e home/recovery && echo here"),
        Line(
            name: "keychain status --delete-damaged",
            before: "printf v | keychain set s a", command: "keychain status --delete-damaged", word: "delete",
            isLost: false, look: password),
        Line(
            name: "keychain db forget", before: "keychain db create a.db", command: "keychain db forget a.db",
            word: "forget", flag: "--yes",
            back: "keychain restore encrypted-database "
                + "$(keychain db info a.db --json | grep -o '\"id\":\"[0-9a-f]*' | cut -d'\"' -f4)",
            look: "keychain db verify a.db >/dev/null && echo here"),
        Line(
            name: "keychain db rekey, decrypt, import", before: "keychain db create a.db; mkdir c; cp a.db* c",
            command: "keychain db rekey a.db", look: "keychain db verify c/a.db >/dev/null && echo here"),
        Line(
            name: "keychain db export, move; file encrypt, decrypt; backup",
            before: "keychain db create a.db; printf v > taken; printf pw > pw",
            command: """
                keychain db export a.db --output taken; keychain db move a.db taken
                keychain file encrypt pw --output taken --password-fd 3 3<pw; keychain backup taken --password-fd 3 3<pw
                """, isLost: false, look: #"test "$(cat taken)" = v && echo here"#),
        Line(
            name: "keychain file unprotect", before: "printf v > f; keychain file protect f",
            command: "keychain file unprotect f", back: "keychain file protect f",
            look: "keychain file info f | grep -qv 'not protected' && echo here"),
        Line(
            name: "keychain backup restore",
            before: "printf v | keychain set s a; printf pw > pw; keychain backup b --password-fd 3 3<pw >/dev/null",
            command: "keychain backup restore b --password-fd 3 3<pw", isLost: false, look: password),
        Line(
            name: "keychain receive, import",
            before: "printf pw > pw; printf w | keychain set s a; "
                + "keychain send s a --output i --password-fd 3 3<pw; printf v | keychain set s a",
            command: "keychain receive i --password-fd 3 3<pw", isLost: false, look: password),
        Line(
            name: "Secret Service: Delete, CreateItem", before: "printf v | keychain set s a",
            command: """
                keychain run --secret-service -- sh -c 'printf x | secret-tool store --label=L k 1; secret-tool clear k 1'
                """, isLost: false, look: password),
    ]

    @Test(arguments: lines)
    func costsWhatTheTableSays(_ line: Line) throws {
        let workplace = try Workplace()
        func shows() throws -> Bool { try workplace.shell("{ \(line.look); } 2>/dev/null").text.contains("here") }
        _ = try workplace.shell(line.before)
        #expect(try shows(), "before")
        if let flag = line.flag {
            let refused = try workplace.shell(line.command)
            #expect(refused.status == 36 && refused.errors.contains(flag), "\(refused.errors)")
            #expect(try shows(), "refused")
        }
        let outcome = try workplace.shell([line.command, line.flag].compactMap(\.self).joined(separator: " "))
        #expect(try shows() != line.isLost, "after: \(outcome.text)\(outcome.errors)")
        guard let back = line.back else { return }
        let returned = try workplace.shell(back)
        #expect(try shows(), "back: \(returned.errors)")
    }

    @Test(arguments: lines.filter { $0.word != nil })
    func asksAtATerminal(_ line: Line) throws {
        let workplace = try Workplace()
        _ = try workplace.shell(line.before)
        let terminal = try Pseudoterminal(workplace, ["/bin/sh", "-c", "cd \"$HOME\"; \(line.command)"])
        try terminal.expect("Type '\(try #require(line.word))' to go on: ")
        terminal.type("no\n")
        #expect(try terminal.finish() != 0)
        #expect(terminal.screen.contains("not confirmed: nothing was"))
        #expect(try workplace.shell("{ \(line.look); } 2>/dev/null").text.contains("here"))
    }

    @Test func theTableHasEachOfThem() throws {
        let page =
            Repository.file("Documentation/Operate/Operation.md").path
        let text = try String(contentsOfFile: page, encoding: .utf8)
        let section = try #require(text.components(separatedBy: "\n## Losses\n").dropFirst().first)
        let rows = section.components(separatedBy: "\n## ")[0].split(separator: "\n").filter { $0.hasPrefix("| ") }
        let names = rows.dropFirst().map { row in
            row.split(separator: "|")[0].trimmingCharacters(in: .whitespaces).replacing("`", with: "")
        }
        #expect(Set(names) == Set(Self.lines.map(\.name)))
        for line in Self.lines {
            let row = try #require(rows.first { $0.replacing("`", with: "").hasPrefix("| \(line.name) |") })
            let asks = row.split(separator: "|")[2]
            #expect(asks.contains("'\(line.word ?? "")'") == (line.word != nil), "\(row)")
            #expect(asks.contains(line.flag ?? "--yes") == (line.flag != nil), "\(row)")
        }
    }
}
