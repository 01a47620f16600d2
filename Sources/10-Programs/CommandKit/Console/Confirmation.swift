import CLibrary
import StatusCodes

/// Asks a person before a command takes something away. The person types a word, so that no single key does it.
package struct Confirmation {
    /// What is lost, as a sentence with its full stop.
    package let loss: String
    /// What the person types.
    package let word: String
    /// What did not happen if the person types something else, as in "erased".
    package let verb: String

    package init(loss: String, word: String, verb: String) { (self.loss, self.word, self.verb) = (loss, word, verb) }

    /// Asks at the terminal.
    ///
    /// - Parameter unattended: What to do where nobody can be asked: a script that was written for the command goes on,
    ///   or has to say --yes.
    /// - Throws: ``Failure`` unless the person agrees.
    package func ask(unattended: Unattended) throws {
        guard isatty(0) == 1, let terminal = CommandTerminal() else {
            guard case .refused(let remedy) = unattended else { return }
            throw Failure(status: errSecInteractionNotAllowed, "there is nobody to confirm it: \(remedy)")
        }
        guard try terminal.ask("\(loss)\nType '\(word)' to go on: ") == word else {
            throw Failure(status: errSecUserCanceled, "not confirmed: nothing was \(verb)")
        }
    }

    package enum Unattended {
        /// Goes on without a question.
        case goesOn
        /// Fails, and says this.
        case refused(String)
    }
}
