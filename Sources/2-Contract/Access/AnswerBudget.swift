/// Counts the wrong passcodes that programs answer to questions put to them, and says how long each is not asked again.
///
/// A program that is served can have itself asked and answer what it likes. Its answers are counted here and not with
/// those of the vault's owner, whom they would keep waiting. A program is cheap to copy and its user is not, so that
/// the programs of a user have a limit together as well.
package struct AnswerBudget: Sendable {
    private struct Answer {
        let program: ServedProgram
        let time: Double
    }

    /// What is looked at so often in so many seconds.
    private struct Limit {
        let count: Int
        let seconds: Double
    }

    private static let ofProgram = Limit(count: 3, seconds: 3600)
    private static let ofUser = Limit(count: 10, seconds: 86_400)

    /// Oldest first; at most ten of each user.
    private var answers: [Answer] = []

    package init() {}

    /// Seconds until an answer of `program` is looked at.
    ///
    /// - Parameter now: Seconds on a clock that nobody can set.
    package func wait(for program: ServedProgram, now: Double) -> Double {
        let ofUser = answers.filter { $0.program.user == program.user }
        let ofProgram = ofUser.filter { $0.program == program }
        return max(
            Self.wait(after: ofProgram, Self.ofProgram, now: now), Self.wait(after: ofUser, Self.ofUser, now: now))
    }

    private static func wait(after answers: [Answer], _ limit: Limit, now: Double) -> Double {
        guard answers.count >= limit.count else { return 0 }
        return max(0, answers[answers.count - limit.count].time + limit.seconds - now)
    }

    /// Counts an answer as wrong, before it is looked at, unless it is not to be looked at.
    ///
    /// - Returns: How many seconds there are to wait; 0 if it was counted.
    package mutating func beginAnswer(of program: ServedProgram, now: Double) -> Double {
        let wait = wait(for: program, now: now)
        guard wait == 0 else { return wait }
        answers.removeAll { $0.time + Self.ofUser.seconds <= now }
        answers.append(Answer(program: program, time: now))
        return 0
    }

    /// Records a right passcode: from `program`, or from the vault's owner if `program` is nil.
    package mutating func forget(_ program: ServedProgram?) {
        answers.removeAll { program == nil || $0.program == program }
    }
}
