import Foundation

/// The note of who is signed in, in the preferences of the program.
struct Preferences: Sendable {
    /// Nil for the program's own.
    let suite: String?
    let key: String

    var user: AuthController.User? {
        get {
            guard let data = defaults?.data(forKey: key) else { return nil }
            return try? JSONDecoder().decode(AuthController.User.self, from: data)
        }
        nonmutating set {
            guard let newValue, let data = try? JSONEncoder().encode(newValue) else {
                defaults?.removeObject(forKey: key)
                defaults?.synchronize()
                return
            }
            defaults?.set(data, forKey: key)
            defaults?.synchronize()
        }
    }

    private var defaults: UserDefaults? { suite.map { UserDefaults(suiteName: $0) } ?? .standard }
}
