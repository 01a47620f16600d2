import Foundation
import Synchronization

/// A clock that can be stopped and moved.
final class TestClock: Sendable {
    private enum Reading {
        case system(offset: TimeInterval)
        case frozen(Date)
    }

    private let reading = Mutex(Reading.system(offset: 0))

    var now: Date {
        reading.withLock {
            switch $0 {
            case .system(let offset): Date().addingTimeInterval(offset)
            case .frozen(let date): date
            }
        }
    }

    func freeze(at date: Date) {
        reading.withLock { $0 = .frozen(date) }
    }

    func advance(by interval: TimeInterval) {
        reading.withLock {
            switch $0 {
            case .system(let offset): $0 = .system(offset: offset + interval)
            case .frozen(let date): $0 = .frozen(date.addingTimeInterval(interval))
            }
        }
    }
}
