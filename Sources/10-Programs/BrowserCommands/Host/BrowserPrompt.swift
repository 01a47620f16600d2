import Access
import Presence

/// Asks in a dialog of pinentry: who uses a browser is at its display, not at the terminal that it may have been
/// started from. Questions go away when the browser does.
typealias BrowserPrompt = WithdrawablePrompt<PinentryPrompt>

extension BrowserPrompt {
    /// Returns whether a person agrees; nil if nobody answered in 2 minutes, or if there is no display to ask on.
    ///
    /// - Parameter button: What the button says that agrees.
    func isAgreed(_ question: String, button: String) -> Bool? {
        guard isAvailable else { return nil }
        return asking { $0.confirm(question, button: button, until: .now + .seconds(120), cancellation: $1) }
    }
}
