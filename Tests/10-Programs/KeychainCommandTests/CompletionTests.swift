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
}
