import Access
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Connections
@testable import VaultService

/// Who gets the next place.
@Suite struct FairQueueTests {
    private let mail = ServedProgram(user: 1000, name: "mail")
    private let news = ServedProgram(user: 1000, name: "news")
    private let theirs = ServedProgram(user: 1001, name: "mail")

    /// Threads that wait for a place, and the order in which they got one.
    private final class Line: Sendable {
        let queue: FairQueue
        private let order = Mutex<[ServedProgram]>([])
        private let linedUp = Mutex(0)

        init(_ places: FairQueue.Places) { queue = FairQueue(places) }

        var served: [ServedProgram] { order.withLock { $0 } }

        /// Lines up for a place, which the next one gets as soon as this one has it.
        func lineUp(_ program: ServedProgram) throws {
            let waiting = queue.waiting
            linedUp.withLock { $0 += 1 }
            let thread = Thread { [self] in
                queue.enter(program)
                order.withLock { $0.append(program) }
                queue.leave(program)
            }
            thread.start()
            try eventually("it waits") { queue.waiting > waiting }
        }

        func finish() throws {
            try eventually("all have had a place") { served.count == linedUp.withLock { $0 } && queue.waiting == 0 }
        }
    }

    @Test func usersTakeTurnsAndSoDoTheProgramsOfEach() throws {
        let line = Line(.init(all: 1, ofUser: 1, ofProgram: 1))
        line.queue.enter(mail)
        for program in [mail, mail, mail, news, news, theirs, theirs] { try line.lineUp(program) }
        line.queue.leave(mail)
        try line.finish()
        #expect(line.served == [mail, theirs, news, theirs, mail, news, mail])
        #expect(line.queue.waiting == 0)
    }

    @Test func aProgramLeavesPlacesToOthersOfItsUserAndAUserToOthers() throws {
        let line = Line(.init(all: 4, ofUser: 3, ofProgram: 2))
        for _ in 0..<2 { line.queue.enter(mail) }
        // Its third waits, although there is room.
        try line.lineUp(mail)
        line.queue.enter(news)
        try line.lineUp(news)
        // There is a place for another user without waiting.
        line.queue.enter(theirs)
        line.queue.leave(theirs)
        #expect(line.served.isEmpty)
        line.queue.leave(news)
        line.queue.leave(mail)
        try line.finish()
        #expect(Set(line.served) == [mail, news])
    }

    @Test func whoGivesWayComesBackBehindThoseWhoWait() throws {
        let line = Line(.init(all: 1, ofUser: 1, ofProgram: 1))
        line.queue.enter(mail)
        line.queue.giveWay(mail)
        for program in [theirs, news] { try line.lineUp(program) }
        line.queue.giveWay(mail)
        // Both users had a turn before this program's next one; the programs of its own user share theirs.
        #expect(line.served.first == theirs)
        line.queue.leave(mail)
        try line.finish()
        #expect(Set(line.served) == [theirs, news])
    }

    /// Those who do not want a place any more leave the line, and the place goes to the next.
    @Test func whoIsGoneLeavesTheLine() throws {
        let line = Line(.init(all: 1, ofUser: 1, ofProgram: 1))
        line.queue.enter(mail)
        let isWanted = Mutex(true)
        let gotPlace = Mutex<Bool?>(nil)
        for program in [theirs, news] {
            Thread { [queue = line.queue] in
                let got = queue.enter(program) { isWanted.withLock { $0 } }
                gotPlace.withLock { $0 = got }
            }.start()
        }
        try eventually("both wait") { line.queue.waiting == 2 }
        isWanted.withLock { $0 = false }
        try eventually("both are gone") { line.queue.waiting == 0 && gotPlace.withLock { $0 } != nil }
        #expect(gotPlace.withLock { $0 } == false)
        try line.lineUp(theirs)
        line.queue.leave(mail)
        try line.finish()
        #expect(line.served == [theirs])
    }

    @Test func everyPlaceComesBack() throws {
        let queue = FairQueue(.init(all: 3, ofUser: 2, ofProgram: 1))
        let taken = Mutex(0)
        let programs = [mail, news, theirs]
        let threads = (0..<12).map { number in
            Thread {
                let program = programs[number % 3]
                for _ in 0..<TestScale.count(200, soak: 20_000) {
                    queue.enter(program)
                    let count = taken.withLock {
                        $0 += 1
                        return $0
                    }
                    if count > 3 { Issue.record("\(count) places are taken") }
                    if number % 2 == 0 {
                        taken.withLock { $0 -= 1 }
                        queue.giveWay(program)
                        taken.withLock { $0 += 1 }
                    }
                    taken.withLock { $0 -= 1 }
                    queue.leave(program)
                }
            }
        }
        for thread in threads { thread.start() }
        try eventually("all are through") { threads.allSatisfy(\.isFinished) }
        #expect(queue.waiting == 0)
        // All of them are free again.
        queue.enter(mail)
        queue.enter(news)
        queue.enter(theirs)
    }
}
