import Bytes

/// The file with which a connection makes its transactions whole: a journal, or a log, or neither.
enum Sidecar {
    case none
    /// A journal that could still undo the writes since the last flush. They must not become valid yet.
    case journal(LiveJournal)
    case log(SealedLog)
}

/// A journal that SQLite has not yet made invalid.
enum LiveJournal {
    /// The journal of the present transaction.
    case own(JournaledPages)
    /// The journal of an interrupted transaction, which started from this batch. SQLite is playing it back.
    case interrupted(sequence: UInt64)
    /// The same journal when no page of the interrupted transaction is left to accept.
    case playedBack
}

/// The pages that a transaction's journal has a copy of.
final class JournaledPages {
    /// The batch of the page index from which the transaction started; 0 for a new database.
    let sequence: UInt64
    /// One bit for each page.
    private var words: [UInt64] = []

    init(sequence: UInt64) { self.sequence = sequence }

    func contains(_ page: UInt32) -> Bool {
        let (word, bit) = Int(page).quotientAndRemainder(dividingBy: 64)
        return word < words.count && words[word] & 1 << UInt64(clamping: bit) != 0
    }

    func insert(_ page: UInt32) {
        let (word, bit) = Int(page).quotientAndRemainder(dividingBy: 64)
        if word >= words.count { words.append(contentsOf: repeatElement(0, count: word + 1 - words.count)) }
        words[word] |= 1 << UInt64(clamping: bit)
    }
}
