import Foundation
import TestSupport
import Testing

/// `keychain ui` in tmux, and the person who types at it.
@Suite struct ScreenTests {
    private let workplace: Workplace

    init() throws {
        workplace = try Workplace()
    }

    private func make(_ script: String) throws {
        let made = try workplace.shell(script)
        try #require(made.status == 0, "\(made.errors)")
    }

    private static let code = "printf 'otpauth://totp/x?secret=GEZDGNBVGY3TQOJQ' | keychain otp mail alice --set"

    @Test func looksThroughThePasswords() throws {
        try make(
            """
            export KEYCHAIN_AUDIT=1; printf 'correct horse' | keychain set mail alice --label 'Private mail' --keep 3
            printf 'correct horse battery' | keychain set mail alice
            printf other | keychain set bank bob; \(Self.code)
            printf internet | keychain internet set https://carl@shop.example
            """)
        let screen = try ScreenTerminal(workplace)
        screen.type("keychain ui --seconds 1", "Enter")
        try screen.wait("> bank") {
            $0.contains("4 items") && $0.contains("shop.example") && $0.contains("Private mail")
        }
        #expect(try screen.text().hasPrefix("  service"))
        // Search, and what is known.
        screen.type("/", "m", "a", "i", "l")
        try screen.wait("/mail_") { $0.contains("2 of 4 items") && !$0.contains("bank") }
        screen.type("Enter", "Enter")
        try screen.wait("accessible") {
            $0.contains("when-unlocked") && $0.contains("former") && $0.contains("version 1")
        }
        #expect(try !screen.text().contains("horse"))
        // The secret, for 15 seconds.
        screen.type("r")
        try screen.wait("correct horse battery") { $0.contains("hidden in 1") }
        try screen.wait("accessible") { !$0.contains("horse") }
        // It is copied to a buffer of tmux.
        screen.type("c")
        try screen.wait("copied to tmux's buffer and the clipboard of its terminal, which is emptied in 1 seconds") {
            _ in true
        }
        try eventually("the clipboard is emptied") { try screen.tmux("show-buffer -b keychain").isEmpty }
        screen.type("o")
        try screen.wait("one-time code, good for") { $0.contains(#/^[0-9]{6}$/#.anchorsMatchLineEndings()) }
        screen.type("c")
        try screen.wait("copied to tmux's buffer and the clipboard of its terminal, which is emptied in 1 seconds") {
            _ in true
        }
        try eventually("the clipboard is emptied") { try screen.tmux("show-buffer -b keychain").isEmpty }
        // What another program changes appears.
        screen.type("q", "Escape")
        try screen.wait("4 items") { $0.contains("bank") }
        try make("printf x | keychain set another ann")
        try screen.wait("another") { $0.contains("5 items") }
        // Audit and keys.
        screen.type("?")
        try screen.wait("draw the screen anew") { $0.contains("copy the secret") }
        screen.type("q", "a")
        try screen.wait("read") { $0.contains(#/[0-9]+ +[0-9-]{10} [0-9:]{8} /#) && $0.contains("q back") }
        // Another size.
        screen.type("q")
        _ = try screen.tmux("resize-window -t ui -x 20 -y 5")
        try screen.wait("> mail      alice\n", "5 item…") { !$0.contains("group") }
        _ = try screen.tmux("resize-window -t ui -x 100 -y 30")
        try screen.wait("group") { $0.contains("Private mail") && $0.contains("5 items") }
        screen.type("q")
        try screen.expectShell(status: 0)
        #expect(try !screen.scrollback().contains("horse") && !screen.scrollback().contains("service"))
    }

    /// The pictures in the documentation show what there is to be seen. With KEYCHAIN_WRITE_PICTURES=1 this test draws
    /// them anew.
    @Test func thePicturesAreTrue() throws {
        try make(
            """
            for place in 'aws deploy Build' 'db.example.com app Database' 'mail alice Private' 'registry robot Images'; do
              set -- $place; printf 'correct horse' | keychain set $1 $2 --label $3 --keep 3
            done
            printf 'correct horse battery' | keychain set mail alice; \(Self.code)
            printf internet | keychain internet set https://carl@shop.example
            """)
        let screen = try ScreenTerminal(workplace, columns: 80, rows: 18)
        screen.type("keychain ui", "Enter")
        try screen.wait("> aws", "shop.example") { _ in true }
        screen.type("j", "j")
        try screen.wait("> mail") { _ in true }
        try screen.compare(picture: "ui-list", titled: "keychain ui")
        screen.type("Enter")
        try screen.wait("accessible") { $0.contains("version 1") }
        try screen.compare(picture: "ui-item", titled: "keychain ui: an item")
    }

    /// So does the recording of a first minute at the terminal.
    @Test func theRecordingIsTrue() throws {
        let screen = try ScreenTerminal(workplace, columns: 88, rows: 19)
        screen.type("unset -f keychain; PS1='$ '; clear", "Enter")
        try screen.wait("$") { !$0.contains("clear") }
        func run(_ command: String, _ answer: String) throws {
            screen.type(command, "Enter")
            // The prompt comes after the answer.
            try screen.wait(String(command.prefix(40)), answer) { $0.contains(#/\$\s*$/#) }
        }
        screen.type("keychain set mail.example.org alice", "Enter")
        for prompt in ["Secret:", "Secret again:"] {
            try screen.wait(prompt) { _ in true }
            screen.type("correct horse", "Enter")
        }
        try screen.wait("Secret again:") { $0.contains(#/\$\s*$/#) }
        try run("keychain get mail.example.org alice", "correct horse")
        try run("keychain set ci github --generate", "--generate")
        try run("keychain list", "github")
        try run("keychain run --mask --env TOKEN=keychain://ci/github -- sh -c 'echo \"I use $TOKEN\"'", "I use ***")
        try run("keychain info mail.example.org alice | head -4", "when-unlocked")
        try screen.compare(picture: "first-minute", titled: "a first minute", columns: 88, isRecording: true)
    }

    /// Signals and keys that end or stop it leave the terminal as it was, and nothing of a secret.
    @Test(arguments: [
        ("TERM", 143), ("HUP", 129), ("INT", 130), ("QUIT", 131), ("SEGV", 139), ("C-c", 0), ("C-z", 148),
    ])
    func nothingStays(_ how: String, _ status: Int) throws {
        try make("printf 'correct horse' | keychain set mail alice")
        let screen = try ScreenTerminal(workplace)
        screen.type("echo before; stty -a > settings; keychain ui", "Enter")
        try screen.wait("> mail") { _ in true }
        screen.type("r")
        try screen.wait("correct horse") { _ in true }
        switch how {
        case "C-c": screen.type("C-c")
        case "C-z":
            screen.type("C-z")
            try screen.wait("before") { !$0.contains("horse") && !$0.contains("accessible") }
            #expect(try !screen.scrollback().contains("horse"))
            try screen.expectShell(status: status)
            screen.type("fg", "Enter")
            try screen.wait("accessible") { !$0.contains("horse") }
            screen.type("q", "q")
            try screen.wait("Stopped") { $0.contains("fg") }
        default: try make("kill -\(how) $(cat pid)")
        }
        try screen.expectShell(status: status)
        #expect(try screen.text().contains("before"))
        #expect(try !screen.scrollback().contains("horse"))
        screen.type("stty -a | cmp - settings && echo sa''me", "Enter")
        try screen.wait("same") { _ in true }
        #expect(try screen.tmux("display-message -p '#{alternate_on} #{cursor_flag} #{wrap_flag}'") == "0 1 1\n")
    }

    @Test func unlocks() throws {
        try make(
            """
            printf rosebud > passcode
            printf always | keychain set open ann --accessible always-this-device-only
            keychain passcode set --new-passcode-fd 3 --memory 8 --passes 1 3< passcode
            printf 'correct horse' | keychain set bank alice --require presence --passcode-fd 3 3< passcode
            """)
        let screen = try ScreenTerminal(workplace)
        screen.type("keychain ui", "Enter")
        try screen.wait("LOCKED (u unlocks)") { $0.contains("> open") && !$0.contains("bank") }
        // Ctrl-C takes the question back.
        screen.type("u")
        try screen.wait("The vault is locked.") { !$0.contains("> open") }
        screen.type("C-c")
        try screen.wait("canceled at the prompt") { $0.contains("> open") }
        screen.type("u")
        try screen.wait("The vault is locked.") { !$0.contains("> open") }
        screen.type("wrong", "Enter")
        try screen.wait("the passcode is wrong") { $0.contains("> open") }
        screen.type("u")
        try screen.wait("The vault is locked.") { !$0.contains("> open") }
        screen.type("rosebud", "Enter")
        try screen.wait("bank") { $0.contains("needs a person") && $0.contains("2 items") }
        // Reading this item asks the person, on the normal screen.
        screen.type("g", "r")
        try screen.wait("asscode") { !$0.contains("accessible") && $0.contains("bank") }
        screen.type("rosebud", "Enter")
        try screen.wait("correct horse") { $0.contains("hidden in") }
        screen.type("l")
        try screen.wait("LOCKED") { !$0.contains("bank") && !$0.contains("horse") }
        screen.type("q", "q")
        try screen.expectShell(status: 0)
        #expect(try !screen.scrollback().contains("horse") && !screen.scrollback().contains("rosebud"))
    }

    /// The first screen of a large vault does not wait for its last item.
    @Test func beginsBeforeAllIsRead() throws {
        try make(
            """
            { echo name,url,username,password
              seq 10000 | sed 's|.*|Site &,https://site&.example,user&,secret&|'; } | keychain import - 2>&1
            """)
        let start = ContinuousClock.now
        let terminal = try Pseudoterminal(
            workplace, ["/bin/sh", "-c", "stty cols 80 rows 24; TERM=xterm exec keychain ui"])
        try terminal.expect("256 items")
        print("keychain ui: the first list of 10,000 items came after \(ContinuousClock.now - start)")
        #expect(terminal.screen.contains("> "))
        try terminal.expect("10000 items")
        terminal.type("/site9999\r")
        try terminal.expect("1 of 10000 items")
        terminal.type("q")
        #expect(try terminal.finish() == 0)
        #expect(terminal.screen.hasSuffix("\u{1B}[?1049l") && !terminal.screen.contains("secret9"))
    }

    /// A program that is not at a terminal, and what scripts are told instead.
    @Test func refusesWhatIsNoTerminal() throws {
        try make("printf x | keychain set mail alice")
        for (command, words) in [
            ("keychain ui", "needs a terminal: `keychain list`"), ("keychain ui --json", "keychain list --json"),
        ] {
            let outcome = try workplace.shell(command)
            #expect(outcome.status == 64 && outcome.text.isEmpty && outcome.errors.contains(words), "\(outcome.errors)")
        }
        for name in ["dumb", ""] {
            let terminal = try Pseudoterminal(workplace, ["/bin/sh", "-c", "TERM=\(name) keychain ui"])
            #expect(try terminal.finish() == 64)
            #expect(terminal.screen.contains("cannot place its cursor") && !terminal.screen.contains("\u{1B}[?"))
        }
        let empty = try Workplace()
        let terminal = try Pseudoterminal(empty, ["/bin/sh", "-c", "TERM=xterm keychain ui"])
        #expect(try terminal.finish() == 44)
        #expect(terminal.screen.contains("there is no vault") && !terminal.screen.contains("1049"))
    }

    /// Without colours the selection is still to be seen.
    @Test func withoutColours() throws {
        try make("printf x | keychain set mail alice")
        let script = "stty cols 80 rows 24; TERM=xterm NO_COLOR=1 exec keychain ui"
        let terminal = try Pseudoterminal(workplace, ["/bin/sh", "-c", script])
        try terminal.expect("> mail")
        terminal.type("o")
        try terminal.expect("no one-time code")
        terminal.type("q")
        #expect(try terminal.finish() == 0)
        #expect(!terminal.screen.contains("\u{1B}[1;31m") && !terminal.screen.contains("\u{1B}[33m"))
    }
}

/// A shell in a window of tmux.
private final class ScreenTerminal {
    private let workplace: Workplace
    private let socket: String

    init(_ workplace: Workplace, columns: Int = 100, rows: Int = 30) throws {
        self.workplace = workplace
        socket = workplace.path + "/tmux"
        // The shell tells the number of the program's process, and how it ended.
        try Data(
            #"""
            keychain() { sh -c 'echo $$ > "$HOME/pid"; exec keychain "$@"' sh "$@"; echo "sta""tus $?"; }
            PS1='% '; cd "$HOME"
            """#.utf8
        ).write(to: URL(fileURLWithPath: workplace.path + "/rc"))
        _ = try tmux(
            "-f /dev/null new-session -d -s ui -x \(columns) -y \(rows) 'exec bash --noprofile --rcfile \(workplace.path)/rc -i'"
        )
        try wait("%") { _ in true }
    }

    deinit { _ = try? tmux("kill-server") }

    func tmux(_ words: String) throws -> String {
        let outcome = try workplace.shell("unset TMUX; tmux -u -S \(socket) \(words)")
        return outcome.text
    }

    /// Types texts and keys by tmux's names.
    func type(_ keys: String...) {
        for key in keys {
            _ = try? tmux("send-keys -t ui '\(key.replacing("'", with: "'\\''"))'")
        }
    }

    func text() throws -> String { try tmux("capture-pane -p -t ui") }

    func scrollback() throws -> String { try tmux("capture-pane -p -S - -t ui") }

    /// Waits until the screen has the texts, and is as `condition` says.
    func wait(
        _ texts: String..., sourceLocation: SourceLocation = #_sourceLocation, _ condition: (String) -> Bool
    ) throws {
        var last = ""
        try eventually("\(texts) on the screen:\n\(last)", sourceLocation: sourceLocation) {
            last = try text()
            return texts.allSatisfy(last.contains) && condition(last)
        }
    }

    /// Compares the screen's text, up to digits, with a picture of the documentation, which it draws if it is told to.
    func compare(
        picture name: String, titled title: String, columns: Int = 80, isRecording: Bool = false
    ) throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let file = folder.appending(path: "../../../Documentation/Images/\(name).svg").standardizedFileURL
        let drawn = try workplace.shell(
            "tmux -u -S \(socket) capture-pane -e -p -t ui | "
                + "/usr/bin/python3 -B '\(folder.path)/Peer/picture.py' '\(title)' \(columns)"
                + (isRecording ? " recording" : ""))
        try #require(drawn.status == 0 && drawn.text.contains("</svg>"), "\(drawn.errors)")
        if ProcessInfo.processInfo.environment["KEYCHAIN_WRITE_PICTURES"] != nil {
            try Data(drawn.text.utf8).write(to: file)
        }
        let kept = try String(contentsOf: file, encoding: .utf8)
        #expect(Self.words(of: kept) == Self.words(of: drawn.text))
    }

    /// What is written in a picture, with 0 for each digit.
    private static func words(of picture: String) -> [Substring] {
        picture.matches(of: #/<text [^>]*>([^<]*)</text>/#).map { $0.1.replacing(#/[0-9]/#, with: "0") }
    }

    /// Waits until the shell has the terminal again.
    func expectShell(status: Int, sourceLocation: SourceLocation = #_sourceLocation) throws {
        try wait("status \(status)", sourceLocation: sourceLocation) { _ in true }
    }
}
