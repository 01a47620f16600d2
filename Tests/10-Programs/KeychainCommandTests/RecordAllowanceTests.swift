import Access
import Foundation
import Testing

@testable import RunCommands

/// How much of the audit log one run may fill.
@Suite struct RecordAllowanceTests {
    private let begin = Date(timeIntervalSinceReferenceDate: 0)

    private func request(_ number: Int) -> BrokeredRequest {
        BrokeredRequest(.placed, secrets: ["T"], host: "api.example.test", port: 443, method: "GET", path: "/\(number)")
    }

    @Test func usualRunsAreListedWhole() {
        var allowance = RecordAllowance(now: begin)
        for number in 0..<20_000 {
            #expect(allowance.take(request(number), now: begin) == request(number))
        }
        #expect(allowance.finish() == nil)
    }

    /// What is too much is counted, and told once a minute.
    @Test func aFloodIsCounted() {
        var allowance = RecordAllowance(now: begin)
        for number in 0..<20_000 { _ = allowance.take(request(number), now: begin) }
        var told: [BrokeredRequest] = []
        for second in 0..<600 {
            for _ in 0..<100 {
                if let record = allowance.take(request(second), now: begin.addingTimeInterval(Double(second))) {
                    told.append(record)
                }
            }
        }
        if let last = allowance.finish() { told.append(last) }
        // A day brings 20,000 back, and ten minutes 138.
        let isCounted = told.filter { $0.reason != nil }
        #expect((9...11).contains(isCounted.count), "\(isCounted.count)")
        #expect(told.count < 160, "\(told.count)")
        let counted = isCounted.compactMap { $0.reason?.split(separator: " ").dropFirst().first.flatMap { Int($0) } }
        #expect(counted.reduce(0, +) + told.count == 60_000)
        #expect(allowance.finish() == nil)
    }

    /// A clock that is set back gives nothing.
    @Test func theClockGoesBack() {
        var allowance = RecordAllowance(now: begin)
        for number in 0..<20_000 { _ = allowance.take(request(number), now: begin) }
        #expect(allowance.take(request(0), now: begin.addingTimeInterval(-1_000_000)) == nil)
        #expect(allowance.take(request(0), now: begin.addingTimeInterval(-1_000_000 + 61)) != nil)
    }
}
