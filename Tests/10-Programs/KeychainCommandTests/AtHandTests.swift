import Foundation
import TestSupport
import Testing

/// What a person does with a secret: put it on the clipboard, change it in an editor.
@Suite struct AtHandTests {
    private let workplace: Workplace

    init() throws {
        workplace = try Workplace()
    }

    /// Runs a script with a password `mail`, and functions that wait for what the clipboard has.
    private func run(_ script: String) throws -> ProgramOutcome {
        try workplace.shell(
            """
            printf 'correct horse' | keychain set mail alice
            until_it_is() { n=0; until [ "$(paste 2>/dev/null)" = "$1" ] || [ $n = 300 ]; do sleep 0.1; n=$((n+1)); done; paste; echo "|"; }
            \(script)
            """)
    }

    /// A display without a screen, with a clipboard of its own.
    private static let display = """
        mkfifo number; Xvfb -displayfd 3 -nolisten tcp 3> number >/dev/null 2>&1 & server=$!
        read -r DISPLAY < number; DISPLAY=:$DISPLAY; export DISPLAY; trap 'kill $server; wait $server' EXIT
        """

    @Test(arguments: ["xclip", "xsel"]) func clipboardOfX11(tool: String) throws {
        // A folder of programs in which the other tool is not.
        let outcome = try run(
            """
            \(Self.display)
            mkdir tools; ln -s /usr/bin/\(tool) tools/; keychain=$(command -v keychain)
            copy() { PATH="$HOME/tools" "$keychain" copy "$@" 2>&1; }
            paste() { xclip -selection clipboard -out; }
            copy mail --seconds 1 --json; until_it_is 'correct horse'; until_it_is ''
            copy mail --seconds 1; printf 'of somebody else' | xclip -selection clipboard -in
            sleep 3; until_it_is 'of somebody else'
            """)
        #expect(
            outcome.text == """
                {"clipboard":"\(tool)","seconds":1}
                correct horse|
                |
                keychain: copied to the clipboard, which is emptied in 1 seconds
                of somebody else|

                """, "\(outcome.errors)")
    }

    @Test func bufferOfTmux() throws {
        let outcome = try run(
            """
            export TMUX_TMPDIR="$HOME"; unset TMUX
            tmux -f /dev/null new-session -d "sleep 60"; trap 'tmux kill-server' EXIT
            export TMUX="$(tmux display-message -p '#{socket_path}'),1,0"
            paste() { tmux show-buffer -b keychain; }
            keychain copy mail alice --seconds 1 2>&1; until_it_is 'correct horse'; until_it_is ''
            printf 'otpauth://totp/x?secret=GEZDGNBVGY3TQOJQ' | keychain otp site --set
            keychain copy site --otp 2>/dev/null; paste | grep -c '^[0-9]\\{6\\}$'
            """)
        #expect(
            outcome.text == """
                keychain: copied to tmux's buffer and the clipboard of its terminal, which is emptied in 1 seconds
                correct horse|
                |
                1

                """, "\(outcome.errors)")
    }

    /// The sequence that terminals take, also through ssh.
    @Test func clipboardOfATerminal() throws {
        _ = try run("")
        let terminal = try Pseudoterminal(workplace, ["keychain", "copy", "mail"])
        try terminal.expect("\u{1B}]52;c;\(Data("correct horse".utf8).base64EncodedString())\u{07}")
        try terminal.expect("where it stays until you copy something else")
        #expect(try terminal.finish() == 0)
        let outcome = try workplace.shell("keychain copy mail; echo $?")
        #expect(outcome.text == "1\n" && outcome.errors.contains("there is no clipboard here"), "\(outcome.errors)")
    }

    @Test func editing() throws {
        let outcome = try run(
            #"""
            edit() { EDITOR="sh $HOME/editor" keychain edit "$@"; echo "status $?"; }
            echo 'stat -c "%a %F" "$1"; stat -f -c %T "$1"; stat -c %a "$(dirname "$1")"; cat "$1"; echo; echo "$1" > "$HOME/place"; printf "second" > "$1"; cp "$1" "$1~"' > editor
            edit mail; keychain get mail; echo; [ -e "$(dirname "$(cat place)")" ] || echo gone
            echo 'echo third > "$1"' > editor; edit mail alice; keychain get mail | od -c | head -n 1
            echo 'printf "fourth" > "$1"; exit 3' > editor; edit mail; keychain get mail; echo
            echo true > editor; edit mail
            echo ': > "$1"' > editor; edit mail; keychain get mail; echo
            echo 'rm "$1"' > editor; edit mail
            for other in "ln -s /etc/passwd" mkfifo mkdir; do echo 'rm "$1";' "$other" '"$1"' > editor; edit mail; done
            echo 'p=$PPID; [ "$(cat /proc/$p/comm)" = keychain ] || p=$(cut -d" " -f4 /proc/$p/stat); kill -QUIT $p; echo "$1" > "$HOME/place"; printf quit > "$1"' > editor
            edit mail; keychain get mail; echo; [ -e "$(dirname "$(cat place)")" ] || echo gone
            echo 'printf "of somebody else" | keychain set mail alice; printf mine > "$1"' > editor; edit mail
            keychain get mail; echo
            printf '\377\376' | keychain set bytes me; edit bytes; edit nobody
            keychain history --default 3; echo 'printf "fifth" > "$1"' > editor; edit mail; keychain history mail alice | cut -f2
            """#)
        #expect(
            outcome.text == """
                600 regular file
                tmpfs
                700
                correct horse
                status 0
                second
                gone
                status 0
                0000000   t   h   i   r   d
                status 1
                third
                status 0
                status 1
                third
                status 1
                status 1
                status 1
                status 1
                status 0
                quit
                gone
                status 1
                of somebody else
                status 1
                status 44
                status 0
                present
                former

                """, "\(outcome.text)\(outcome.errors)")
        for words in [
            "ended with an error, so nothing was changed", "nothing was changed\n", "the file is empty",
            "another program changed the secret while you did", "the secret is not text",
            "the editor put something else in the place of the file",
        ] {
            #expect(outcome.errors.contains(words), "\(outcome.errors)")
        }
    }

    /// A real editor, at a terminal; nothing of the secret stays beside it.
    @Test func editingWithVim() throws {
        _ = try run("")
        let terminal = try Pseudoterminal(
            workplace, ["/bin/sh", "-c", "cd \"$HOME\"; TERM=xterm EDITOR=vi keychain edit mail"])
        try terminal.expect("correct horse")
        terminal.type("A battery\u{1B}:wq\r")
        #expect(try terminal.finish() == 0)
        let outcome = try workplace.shell("keychain get mail; echo; grep -rl 'horse' . --include='*' -s || echo clean")
        #expect(outcome.text == "correct horse battery\nclean\n", "\(outcome.errors)\(terminal.screen)")
    }

    /// Long names are cut at a terminal, where a line is as wide as that, and are whole in a pipe.
    @Test func tables() throws {
        _ = try workplace.shell(
            "printf x | keychain set \"$(head -c 100000 /dev/zero | tr '\\0' n)\" me; printf x | keychain set short me")
        let script =
            "stty cols 60; keychain list; keychain --color never list short; NO_COLOR=1 keychain list short; keychain list | wc -L"
        let terminal = try Pseudoterminal(workplace, ["/bin/sh", "-c", script])
        #expect(try terminal.finish() == 0)
        let lines = terminal.screen.split(separator: "\r\n").map(String.init)
        try #require(lines.count == 8, "\(terminal.screen.prefix(2_000))")
        #expect(lines[0].hasPrefix("\u{1B}[1mservice ") && lines[0].hasSuffix("\u{1B}[0m"))
        #expect(lines[1].hasPrefix("nnnn") && lines[1].contains("n…  me       keychain") && lines[1].count == 60)
        #expect(lines[3] == "service  account  group" && lines[5] == lines[3])
        #expect(Int(lines[7]) ?? 0 > 100_000)
        let forced = try workplace.shell("keychain list short --color=always; keychain list --color maybe; echo $?")
        #expect(forced.text == "short\tme\tkeychain\n64\n", "\(forced.text)")
    }
}
