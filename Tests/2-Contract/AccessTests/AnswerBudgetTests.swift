import Access
import Testing

@Suite struct AnswerBudgetTests {
    private let mail = ServedProgram(user: 1000, name: "/usr/bin/mail")
    private let news = ServedProgram(user: 1000, name: "/usr/bin/news")
    private let theirs = ServedProgram(user: 1001, name: "/usr/bin/mail")

    private func budget(_ answers: [(ServedProgram, Double)]) -> AnswerBudget {
        var budget = AnswerBudget()
        for (program, time) in answers { _ = budget.beginAnswer(of: program, now: time) }
        return budget
    }

    @Test func threeAnswersInAnHourAreLookedAt() {
        var budget = budget([(mail, 0), (mail, 600)])
        #expect(budget.beginAnswer(of: mail, now: 1200) == 0)
        #expect(budget.wait(for: mail, now: 1200) == 2400)
        #expect(budget.beginAnswer(of: mail, now: 3599) == 1)
        #expect(budget.wait(for: news, now: 1200) == 0)
        #expect(budget.wait(for: theirs, now: 1200) == 0)
        // The first of them is an hour old; what was refused did not count.
        #expect(budget.beginAnswer(of: mail, now: 3600) == 0)
        #expect(budget.wait(for: mail, now: 3600) == 600)
    }

    @Test func tenAnswersInADayAreLookedAtFromAllProgramsOfAUser() {
        let answers = (0..<10).map {
            (ServedProgram(user: 1000, name: "/tmp/copy\($0 / 3)"), Double($0) * 10)
        }
        let budget = budget(answers)
        #expect(budget.wait(for: mail, now: 100) == 86_300)
        #expect(budget.wait(for: theirs, now: 100) == 0)
        #expect(budget.wait(for: mail, now: 86_400) == 0)
    }

    @Test func aRightAnswerForgetsThoseOfItsProgramAndTheOwnersForgetsAll() {
        var budget = budget((0..<3).flatMap { [(mail, Double($0)), (news, Double($0)), (theirs, Double($0))] })
        budget.forget(mail)
        #expect(budget.wait(for: mail, now: 3) == 0)
        #expect(budget.wait(for: news, now: 3) > 0)
        budget.forget(nil)
        #expect([mail, news, theirs].allSatisfy { budget.wait(for: $0, now: 3) == 0 })
    }
}
