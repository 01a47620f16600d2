import Access

/// Those who wait for one of a number of places. Users take turns for a free place, and so do the programs of each
/// user.
package struct FairLine<Element> {
    /// How many places there are in all, how many of them one user may take, and how many one program.
    package struct Places: Sendable {
        package var all: Int
        package var ofUser: Int
        package var ofProgram: Int
        /// Whether a program that has no place may take one beyond those of its user: the other programs of a user
        /// must not keep it out.
        package var keepsFirst = false

        package init(all: Int, ofUser: Int, ofProgram: Int, keepsFirst: Bool = false) {
            (self.all, self.ofUser, self.ofProgram, self.keepsFirst) = (all, ofUser, ofProgram, keepsFirst)
        }
    }

    /// Those of a program that wait, the first in front.
    private struct WaitingProgram {
        let program: ServedProgram
        var waiters: [Element]
    }

    /// The programs of a user that have somebody waiting, the next in front.
    private struct WaitingUser {
        let user: UInt32
        var programs: [WaitingProgram]
    }

    private let places: Places
    private var taken = 0
    private var takenByUser: [UInt32: Int] = [:]
    private var takenByProgram: [ServedProgram: Int] = [:]
    /// The next user in front.
    private var waiting: [WaitingUser] = []
    /// How many wait.
    private(set) var count = 0

    init(_ places: Places) { self.places = places }

    var isEmpty: Bool { waiting.isEmpty }

    func hasPlace(for program: ServedProgram) -> Bool {
        let ofProgram = takenByProgram[program, default: 0]
        return taken < places.all && ofProgram < places.ofProgram
            && (takenByUser[program.user, default: 0] < places.ofUser || places.keepsFirst && ofProgram == 0)
    }

    mutating func take(_ program: ServedProgram) {
        taken += 1
        takenByUser[program.user, default: 0] += 1
        takenByProgram[program, default: 0] += 1
    }

    mutating func giveBack(_ program: ServedProgram) {
        taken -= 1
        // Only those that have a place are kept, however many programs come and go.
        Self.count(down: program.user, in: &takenByUser)
        Self.count(down: program, in: &takenByProgram)
    }

    private static func count<Key>(down key: Key, in counts: inout [Key: Int]) {
        guard let count = counts[key] else { return }
        counts[key] = count > 1 ? count - 1 : nil
    }

    /// Lines somebody up behind the others of its program.
    mutating func append(_ element: Element, of program: ServedProgram) {
        count += 1
        guard let user = waiting.firstIndex(where: { $0.user == program.user }) else {
            waiting.append(
                WaitingUser(user: program.user, programs: [WaitingProgram(program: program, waiters: [element])]))
            return
        }
        if let own = waiting[user].programs.firstIndex(where: { $0.program == program }) {
            waiting[user].programs[own].waiters.append(element)
        } else {
            waiting[user].programs.append(WaitingProgram(program: program, waiters: [element]))
        }
    }

    /// Takes somebody out of the line.
    ///
    /// - Returns: Whether it was there.
    mutating func remove(of program: ServedProgram, where isMeant: (Element) -> Bool) -> Bool {
        guard let user = waiting.firstIndex(where: { $0.user == program.user }),
            let own = waiting[user].programs.firstIndex(where: { $0.program == program }),
            let place = waiting[user].programs[own].waiters.firstIndex(where: isMeant)
        else { return false }
        count -= 1
        waiting[user].programs[own].waiters.remove(at: place)
        if waiting[user].programs[own].waiters.isEmpty { waiting[user].programs.remove(at: own) }
        if waiting[user].programs.isEmpty { waiting.remove(at: user) }
        return true
    }

    /// Takes a place for the next one who may have it; user and program then go behind the others.
    mutating func popNext() -> Element? {
        guard taken < places.all else { return nil }
        for userIndex in waiting.indices {
            guard let index = waiting[userIndex].programs.firstIndex(where: { hasPlace(for: $0.program) }) else {
                continue
            }
            var user = waiting.remove(at: userIndex)
            var line = user.programs.remove(at: index)
            let waiter = line.waiters.removeFirst()
            count -= 1
            take(line.program)
            if !line.waiters.isEmpty { user.programs.append(line) }
            if !user.programs.isEmpty { waiting.append(user) }
            return waiter
        }
        return nil
    }
}
