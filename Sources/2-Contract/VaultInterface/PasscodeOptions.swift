/// How a passcode is guarded.
package struct PasscodeOptions: Sendable, Equatable {
    /// What deriving a key from the passcode costs.
    package enum Cost: Sendable, Equatable {
        /// Calibrated on this machine: at least 250 ms and 256 MiB. A passcode that takes the place of another keeps
        /// the other's memory, and has at least its passes.
        case interactive
        /// For small containers: so many MiB and passes, chosen by the person who sets the passcode.
        case explicit(memoryMiB: Int, passes: Int)
    }

    package var cost: Cost
    /// The number of wrong attempts in a row after which everything is erased; nil for never, or for the number of the
    /// passcode before. 0 takes that number away.
    package var eraseAfter: Int?

    package init(cost: Cost = .interactive, eraseAfter: Int? = nil) {
        self.cost = cost
        self.eraseAfter = eraseAfter
    }
}
