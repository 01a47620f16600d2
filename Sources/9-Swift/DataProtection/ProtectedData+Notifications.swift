import DataProtectionEssentials
import Foundation
import Synchronization

extension ProtectedData {
    private static let posting = Mutex<Task<Void, Never>?>(nil)

    /// Has changes posted as notifications, until ``stopNotifications()``:
    /// `Notification.Name.protectedDataWillBecomeUnavailable` and `Notification.Name.protectedDataDidBecomeAvailable`.
    ///
    /// The state at the start is not posted. They are posted on a thread of their own, without `userInfo`. Does nothing
    /// if they are posted already.
    ///
    /// - Parameter center: Where to post them.
    /// - Throws: ``ProtectedFileError``.
    public static func startNotifications(
        in center: NotificationCenter = .default
    ) throws {
        let events = try events()
        posting.withLock { posting in
            guard posting == nil else { return }
            posting = Task.detached {
                var last: Event?
                for await event in events {
                    defer { last = event }
                    guard let last else { continue }
                    for name in event.notifications(after: last) { center.post(name: name, object: nil) }
                }
            }
        }
    }

    /// Ends what ``startNotifications(in:)`` began.
    public static func stopNotifications() {
        posting.withLock { posting in
            posting?.cancel()
            posting = nil
        }
    }
}

extension ProtectedData.Event {
    /// What Apple's systems post of it.
    fileprivate func notifications(after last: Self) -> [Notification.Name] {
        switch self {
        case .didBecomeAvailable: last == self ? [] : [.protectedDataDidBecomeAvailable]
        case .willBecomeUnavailable: [.protectedDataWillBecomeUnavailable]
        // Without notice, as when a daemon is gone.
        case .didBecomeUnavailable: last == .didBecomeAvailable ? [.protectedDataWillBecomeUnavailable] : []
        }
    }
}

extension Notification.Name {
    /// Files of class `complete` can be used; posted after ``ProtectedData/startNotifications(in:)``. The name is that
    /// of `UIApplication.protectedDataDidBecomeAvailableNotification`.
    public static let protectedDataDidBecomeAvailable = Notification.Name(
        "UIApplicationProtectedDataDidBecomeAvailable")
    /// Files of class `complete` are about to be closed; posted after ``ProtectedData/startNotifications(in:)``. The
    /// name is that of `UIApplication.protectedDataWillBecomeUnavailableNotification`.
    public static let protectedDataWillBecomeUnavailable = Notification.Name(
        "UIApplicationProtectedDataWillBecomeUnavailable")
}
