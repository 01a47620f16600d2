extension Keychain {
    /// Who decides which of two changes of an item comes first.
    ///
    /// The vaults of a circle have the same synchronizable items. Of two changes that two machines make at once, the
    /// later one is in force everywhere. That is right for a password, and loses an increment of a counter.
    public enum Decider: Sendable, Hashable {
        /// The vault of this machine. It needs no network. Changes of other machines may come later, and one of two is
        /// in force then.
        case vault
        /// The etcd in which the circle meets: compare and swap among all machines. Without the network it is an error.
        /// The item has to be synchronizable, and the program `keychain-sync` has to run on this machine.
        case circle
    }
}
