import Foundation
import TestSupport
import Testing

/// The generated completions, in the shell.
@Suite struct CompletionTests {
    @Test(arguments: [
        ("file cat Rec", "Records\n"), ("import Rec", "Records\n"), ("db info Rec", "Records\n"),
        ("file encrypt x --output Rec", "Records\n"), ("run --env-file Rec", "Records\n"), ("mount Rec", ""),
        ("mount fol", "folder\n"), ("file c", "cat\n"),
    ])
    func bashCompletesFiles(_ line: String, _ completions: String) throws {
        let workplace = try Workplace()
        try Data(
            """
            source <(keychain --generate-completion-script bash)
            COMP_WORDS=(keychain \(line)) COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            COMP_LINE="keychain \(line)" COMP_POINT=${#COMP_LINE}
            _keychain keychain "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
            printf '%s\\n' "${COMPREPLY[@]}" | grep -v '^$' || true
            """.utf8
        ).write(to: URL(fileURLWithPath: workplace.path + "/complete"))
        let outcome = try workplace.shell("touch Records; mkdir folder; bash complete")
        #expect(outcome.text == completions, "\(outcome.errors)")
    }

    /// A person at a real shell, who types the beginning of each word.
    @Test(arguments: ["bash", "zsh", "fish"]) func names(shell: String) throws {
        let workplace = try Workplace()
        let start =
            switch shell {
            case "bash": "exec bash --norc --noprofile -i"
            case "zsh": "exec zsh -f -i"
            default: "exec fish --no-config -i"
            }
        let made = try workplace.shell(
            """
            printf 'the secret' | keychain set uniqueservice alice; printf x | keychain set 'two words' 'ann b'
            printf y | keychain set other me --group com.example.group
            keychain key create laptop; keychain --generate-completion-script \(shell) > completion; touch Recordings
            """)
        #expect(made.status == 0, "\(made.errors)")
        let terminal = try Pseudoterminal(
            workplace, ["/bin/sh", "-c", "cd \"$HOME\"; TERM=xterm HISTFILE= \(start)"])
        let setUp =
            switch shell {
            case "bash": "PS1='% '; source completion; echo re''ady\r"
            case "zsh": "PS1='% '; autoload -U compinit; compinit -u -D; source completion; echo re''ady\r"
            default: "source completion; function fish_prompt; echo '% '; end; echo re''ady\r"
            }
        terminal.type(setUp)
        try terminal.expect("ready")
        // A shell completes when it has drawn its prompt.
        let lines: [(typed: String, shown: String)] = [
            ("keychain get uniq\talic\t\r", "the secret"),
            ("keychain info other me --group com.ex\t\r", "com.example.group"),
            ("keychain key info lapt\t\r", "fingerprint"),
            ("keychain import Record\t --dry-run; echo sta''tus\r", "status"),
        ]
        for (typed, shown) in lines {
            terminal.type(typed)
            try terminal.expect(shown)
        }
        #expect(terminal.screen.contains("Recordings"))
        terminal.type("exit\r")
        _ = try terminal.finish()
    }
}
