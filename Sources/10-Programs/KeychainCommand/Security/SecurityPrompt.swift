import FoundationEssentials
import Glibc

/// Prompts in the manner of readpassphrase(3): at the terminal, or, where there is none, from standard
/// input.
enum SecurityPrompt {
    static func secretTwice(_ first: String, _ second: String) throws(Failure) -> Data {
        guard let terminal = Terminal() else {
            let secret = try SecretInput.readAll(0, keepingNewline: true)
            guard !secret.isEmpty else {
                throw .usage("no password: there is no terminal to ask at, and standard input is empty")
            }
            return secret.prefix { $0 != UInt8(ascii: "\n") }
        }
        while true {
            let typed = try terminal.askSecrets([first, second])
            if let secret = typed.first, secret == typed.last { return secret }
            try FileOutput.write(Data("passwords don't match\n".utf8), to: 2)
        }
    }
}
