/// How a passcode is guarded.
package struct PasscodeOptions: Sendable, Equatable {
    /// What deriving a key from the passcode may cost at least.
    package enum Cost: Sendable, Equatable {
        /// Calibrated on this machine: at least 250 ms and 256 MiB.
        case interactive
        /// For small containers: so many MiB and passes, chosen by the person who sets the passcode.
        case explicit(memoryMiB: Int, passes: Int)
    }

    package var cost: Cost
    /// The number of wrong attempts in a row after which everything is erased; nil for never.
    package var eraseAfter: Int?

    package init(cost: Cost = .interactive, eraseAfter: Int? = nil) {
        self.cost = cost
        self.eraseAfter = eraseAfter
    }
}
