import Foundation

/// The note of who is signed in, in the preferences of the program.
struct Preferences: Sendable {
    /// Nil for the program's own.
    let suite: String?
    let key: String

    struct Note: Codable, Equatable {
        var user: AuthController.User
        /// Whether what goes with the person is being removed.
        var isSigningOut: Bool
    }

    var note: Note? {
        get {
            guard let data = defaults?.data(forKey: key) else { return nil }
            return try? JSONDecoder().decode(Note.self, from: data)
        }
        nonmutating set {
            if let newValue, let data = try? JSONEncoder().encode(newValue) {
                defaults?.set(data, forKey: key)
            } else {
                defaults?.removeObject(forKey: key)
            }
            defaults?.synchronize()
        }
    }

    private var defaults: UserDefaults? { suite.map { UserDefaults(suiteName: $0) } ?? .standard }
}
