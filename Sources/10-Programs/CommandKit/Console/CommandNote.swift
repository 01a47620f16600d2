import FoundationEssentials

/// A line on standard error from a command that does its work.
package enum CommandNote {
    package static func show(_ sentence: String) {
        // A note that cannot be written is no reason to fail.
        try? FileOutput.write(Data("\(TerminalStyle(of: 2).note("keychain:")) \(sentence)\n".utf8), to: 2)
    }
}
