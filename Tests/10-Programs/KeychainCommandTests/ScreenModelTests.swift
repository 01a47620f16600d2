import Foundation
import KeychainModel
import ScreenCommands
import Testing

/// The state of `keychain ui` and its lines, without a terminal.
@Suite struct ScreenModelTests {
    private static let wide = CharacterWidths { ["日", "本"].contains($0) ? 2 : $0.value == 0x301 ? 0 : 1 }
    private let now = ContinuousClock.now

    private func entry(
        _ name: String, _ account: String, label: String? = nil, flags: AccessControl.Flags? = nil
    ) -> ScreenEntry {
        var attributes: ItemAttributes = [.service: .string(name), .account: .string(account)]
        if let label { attributes[.label] = .string(label) }
        return ScreenEntry(
            StoredItem(
                itemClass: .genericPassword, identifier: UUID(), attributes: attributes, accessGroup: "keychain",
                accessControl: AccessControl(protection: .whenUnlocked, flags: flags), isSynchronizable: false,
                creationDate: Date(timeIntervalSince1970: 0), modificationDate: Date(timeIntervalSince1970: 0)))
    }

    private func contents(_ entries: [ScreenEntry], lock: ScreenContents.Lock = .unlocked) -> ScreenContents {
        var contents = ScreenContents()
        (contents.entries, contents.lock, contents.isComplete) = (entries, lock, true)
        return contents
    }

    private func model(_ entries: [ScreenEntry], columns: Int = 60, rows: Int = 8) -> ScreenModel {
        var model = ScreenModel()
        (model.columns, model.rows) = (columns, rows)
        model.take(contents(entries))
        return model
    }

    private func lines(_ model: inout ScreenModel, _ now: ContinuousClock.Instant? = nil) -> [String] {
        let lines = ScreenView(Self.wide).lines(&model, now: now ?? self.now)
        #expect(lines.count == model.rows)
        #expect(lines.allSatisfy { $0.width <= model.columns })
        return lines.map(\.text)
    }

    private func type(_ text: String, _ model: inout ScreenModel) -> [ScreenEffect] {
        text.unicodeScalars.flatMap { model.handle(.scalar($0)) }
    }

    private var many: [ScreenEntry] { (0..<100).map { entry("site\(String($0 + 100).dropFirst())", "ann") } }

    @Test func movesAndScrolls() {
        var model = model(many)
        #expect(lines(&model)[1].hasPrefix("> site00") && lines(&model)[0].hasPrefix("  service"))
        _ = type("jj", &model)
        #expect(model.entry?.name == "site02")
        _ = model.handle(.pageDown)
        #expect(model.entry?.name == "site08" && lines(&model)[6].hasPrefix("> site08"))
        _ = type("G", &model)
        #expect(model.entry?.name == "site99" && lines(&model)[1].hasPrefix("  site94"))
        _ = type("jk", &model)
        _ = model.handle(.up)
        #expect(model.entry?.name == "site97")
        _ = type("g", &model)
        _ = model.handle(.pageUp)
        #expect(model.entry?.name == "site00")
        #expect(lines(&model)[7] == "unlocked  100 items  ? keys")
    }

    @Test func searchesWhileTyping() {
        var model = model([entry("github.com", "ann"), entry("mail", "ann", label: "Private"), entry("mail", "bob")])
        _ = type("/mai", &model)
        #expect(lines(&model).last == "/mai_  2 of 3 items")
        _ = type(" bob", &model)
        #expect(model.pane == .search && lines(&model)[1].hasPrefix("> mail") && model.entry?.account == "bob")
        _ = model.handle(.enter)
        #expect(model.pane == .list && lines(&model).last == "unlocked  1 of 3 items  /mai bob  ? keys")
        _ = model.handle(.escape)
        #expect(lines(&model).last == "unlocked  3 items  ? keys" && model.entry?.account == "bob")
        _ = type("/ghub", &model)
        #expect(lines(&model)[1].hasPrefix("> github.com"))
        _ = model.handle(.control("u"))
        _ = type("nothing", &model)
        #expect(lines(&model)[1].contains("no password has these words") && model.entry == nil)
        #expect(type("\u{1}", &model) == [] && model.handle(.escape) == [])
        #expect(model.query.isEmpty && lines(&model)[1].hasPrefix("> github.com"))
    }

    @Test func showsASecretForAWhile() throws {
        let item = entry("mail", "ann")
        var model = model([item], rows: 20)
        #expect(type("r", &model) == [.versions(item), .reveal(item)])
        model.reveal("correct \\ horse", now: now)
        #expect(
            lines(&model)[0] == "secret, hidden in 15 s (r hides it now):" && lines(&model)[1] == "correct \\ horse")
        #expect(model.nextMoment(now) == now + .seconds(1))
        #expect(lines(&model, now + .milliseconds(14_500))[0].contains("in 1 s"))
        #expect(model.tick(now + .milliseconds(14_999)) == [] && model.secret != nil)
        #expect(model.tick(now + .seconds(15)) == [])
        #expect(!lines(&model).joined().contains("horse") && model.nextMoment(now) == nil)
        // A second press, leaving the pane, stopping and locking hide it, too.
        for hide: (inout ScreenModel) -> Void in [
            { _ = $0.handle(.scalar("r")) }, { _ = $0.handle(.escape) }, { _ = $0.handle(.control("z")) },
            { $0.take(contents([item], lock: .locked)) }, { $0.take(contents([])) }, { _ = $0.handle(.scalar("?")) },
        ] {
            model.take(contents([item]))
            model.reveal("correct horse", now: now)
            #expect(lines(&model).joined().contains("horse"))
            hide(&model)
            #expect(!lines(&model).joined().contains("horse"))
        }
    }

    @Test func showsSecretsAsTheyAre() {
        var model = model([entry("key", "ann")], columns: 20, rows: 30)
        model.reveal("first\nsecond, which is long, and wraps", now: now)
        #expect(Array(lines(&model)[1...4]) == ["first", "second, which is lon", "g, and wraps", ""])
        model.reveal("bell\u{7}\\", now: now)
        #expect(lines(&model)[1] == "bell\\u{7}\\\\" && lines(&model)[2].hasPrefix("(with control"))
    }

    @Test func showsOneTimeCodes() {
        let (login, source) = (entry("github.com", "ann"), entry("one-time-code/github.com", "ann"))
        let other = entry("one-time-code/bank", "bob", flags: .userPresence)
        var model = model([login, source, other, entry("mail", "ann"), entry("bank", "ann")])
        #expect(type("o", &model) == [.versions(login), .code(source)])
        model.show(code: "123456", of: source, seconds: 10, now: now)
        #expect(lines(&model)[0] == "one-time code, good for 10 s (c copies it):" && lines(&model)[1] == "123456")
        #expect(type("c", &model) == [.copyCode("123456")])
        // The next code follows, for a minute.
        #expect(model.tick(now + .seconds(10)) == [.code(source)])
        model.show(code: "654321", of: source, seconds: 60, now: now + .seconds(10))
        #expect(model.tick(now + .seconds(59)) == [] && model.tick(now + .seconds(60)) == [] && model.code == nil)
        #expect(type("c", &model) == [.copy(login)])
        // A person is not asked again by itself.
        model.show(code: "1", of: other, seconds: 10, now: now)
        #expect(model.tick(now + .seconds(10)) == [] && model.code == nil)
        _ = type("qjjj", &model)
        #expect(type("o", &model) == [] && lines(&model).last == "no one-time code is stored for it")
        _ = type("j", &model)
        #expect(type("o", &model).last == .code(other))
    }

    /// Another item must not come to where a person's finger is.
    @Test func keepsTheSelectionWhenTheVaultChanges() {
        let entries = many
        var model = model(entries)
        _ = type("jjj", &model)
        model.take(contents([entry("a", "new")] + entries))
        #expect(model.entry?.name == "site03")
        _ = model.handle(.enter)
        model.take(contents(Array(entries.dropFirst(4))))
        #expect(model.pane == .list && model.message?.text == "the item cannot be seen any more")
    }

    @Test func saysThatTheVaultIsLocked() {
        var model = model([])
        var locked = contents([], lock: .locked)
        locked.lockedCount = 4
        model.take(locked)
        #expect(lines(&model)[1] == "  the vault is locked: u unlocks it")
        #expect(lines(&model).last == "LOCKED (u unlocks)  0 items  4 locked  ? keys")
        #expect(type("u", &model) == [.unlock] && type("l", &model) == [.lock] && type("a", &model) == [.audit])
    }

    /// No text moves the cursor, and each line fits, also where characters take two columns or none.
    @Test(arguments: [1, 2, 5, 20, 21, 40, 80], [1, 2, 3, 5, 24])
    func fits(columns: Int, rows: Int) {
        let hostile = entry("日本日本日本\u{1B}]0;x\u{7}", "e\u{301}\u{202E}" + String(repeating: "n", count: 300))
        var model = model([hostile, entry("", "", label: "\u{1B}[2J")], columns: columns, rows: rows)
        for keys in ["", "/日本\u{301}", "\u{1}"] {
            _ = type(keys, &model)
            #expect(lines(&model).allSatisfy { line in !line.unicodeScalars.contains { $0.value < 32 } })
        }
        _ = model.handle(.enter)
        _ = model.handle(.enter)
        model.reveal("日本" + String(repeating: "x", count: 100), now: now)
        _ = lines(&model)
        for key in [Key.end, .home, .pageDown, .escape, .scalar("?"), .end, .escape] {
            _ = model.handle(key)
            #expect(lines(&model).allSatisfy { line in !line.unicodeScalars.contains { $0.value < 32 } })
        }
        model.show(audit: [["1", "now", "\u{1B}[2J"]])
        _ = lines(&model)
        model.tell(String(repeating: "long ", count: 50), isError: true, now: now)
        _ = lines(&model)
    }

    @Test func cuts() {
        let ascii = CharacterWidths(nil)
        #expect(Self.wide.cut("日本", to: 4) == ("日本", 4) && Self.wide.cut("日本日", to: 4) == ("日…", 3))
        #expect(Self.wide.cut("日本", to: 1) == ("…", 1) && Self.wide.cut("abc", to: 0) == ("", 0))
        #expect(Self.wide.cut("e\u{301}x", to: 2) == ("e\u{301}x", 2))
        #expect(ascii.cut("é", to: 10) == ("\\u{e9}", 6) && ascii.cut("abcdef", to: 3) == ("ab~", 3))
    }

    /// Only the meaning of colours is lost without them.
    @Test func colours() {
        let line = ScreenLine("x", .error, to: 10, Self.wide)
        #expect(line.drawn(isColored: true) == "\u{1B}[1;31mx\u{1B}[0m" && line.drawn(isColored: false) == "x")
    }

    @Test func keys() {
        var parser = KeyParser()
        func read(_ text: String) -> [Key] { parser.take(Array(text.utf8)) }
        #expect(
            read("aé日\u{1B}[A\u{1B}OB\u{1B}[1;5C\u{1B}[5~\u{1B}[6~\u{1B}[1~\u{1B}[F") == [
                .scalar("a"), .scalar("é"), .scalar("日"), .up, .down, .right, .pageUp, .pageDown, .home, .end,
            ])
        #expect(
            read("\r\n\u{7F}\u{8}\u{3}\u{1A}") == [
                .enter, .enter, .backspace, .backspace, .control("c"), .control("z"),
            ])
        // A byte alone is the escape key, after a while.
        #expect(read("\u{1B}") == [] && parser.isWaiting && parser.finish() == .escape && !parser.isWaiting)
        #expect(read("\u{1B}\u{1B}[A") == [.escape, .up])
        #expect(read("\u{1B}[200~x\u{1B}[201~\u{1B}[[Ay") == [.other, .scalar("x"), .other, .other, .scalar("y")])
        // In pieces.
        #expect(read("\u{1B}") == [] && read("[") == [] && read("B") == [.down])
        #expect(parser.take([0xE6]) == [] && parser.take([0x97]) == [] && parser.take([0xA5]) == [.scalar("日")])
        #expect(parser.take([0xFF, 0x61]) == [.other, .scalar("a")])
        // Nothing of a sequence without end is taken for keys.
        #expect(read("\u{1B}[" + String(repeating: "1", count: 10_000)) == [] && read("~q") == [.other, .scalar("q")])
    }
}
