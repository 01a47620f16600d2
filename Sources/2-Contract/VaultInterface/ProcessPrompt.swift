import Access
import Synchronization

/// How this process asks a person for a passcode when a daemon wants one.
package enum ProcessPrompt {
    private static let prompt = Mutex<(any PasscodePrompt)?>(nil)

    /// Nil for the standard prompt: pinentry or the terminal, whichever is there.
    package static var current: (any PasscodePrompt)? {
        get { prompt.withLock { $0 } }
        set { prompt.withLock { $0 = newValue } }
    }
}
