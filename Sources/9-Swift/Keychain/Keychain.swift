import Foundation

/// The passwords, tokens and other small secrets of one service, or of one server, in the keychain.
///
/// A keychain value names a place and how new items are protected there; it holds no connection and no
/// secret, and is cheap to make and to pass around. Each operation is atomic: other threads and
/// processes see all of it or nothing.
///
/// ```swift
/// let keychain = Keychain(service: "com.example.mail")
/// try keychain.set("correct horse", for: "ada@example.com")
/// let password = try keychain.get(String.self, for: "ada@example.com")
/// ```
///
/// Every operation has a synchronous and an asynchronous form of the same name. In an asynchronous
/// function the compiler picks the second, which runs on threads of this module's own, so that a slow
/// disk or a person who is being asked never holds up other tasks.
///
/// What can be stored is a ``KeychainValue``: `String`, `Data`, numbers, dates, and, with one line, any
/// `Codable` type. Operations throw ``KeychainError`` and nothing else.
///
/// Items are looked for where they would be stored: in ``accessGroup``, on this machine only or
/// synchronizable as ``isSynchronizable`` says, never in both places.
public struct Keychain: Sendable, Hashable {
    /// Which items a keychain is about.
    public enum Target: Sendable, Hashable {
        /// Generic passwords of the service with this name (`kSecClassGenericPassword`).
        case service(String)
        /// Internet passwords for this server (`kSecClassInternetPassword`).
        case server(InternetServer)
    }

    /// The service or server whose items these are.
    public var target: Target

    /// The access group the items are in; nil for the first group of the program
    /// (``KeychainProgram``).
    ///
    /// A group the program does not hold is refused with ``KeychainError/Code/accessDenied``.
    public var accessGroup: String?

    /// When items stored from now on can be read.
    ///
    /// Storing a value over an existing item gives that item this accessibility too.
    public var accessibility: Accessibility

    /// What must hold, besides ``accessibility``, before the value of an item stored from now on is
    /// handed out; nil for nothing more.
    ///
    /// It is looked at when the item is read. Where there is no way to ask for what it wants, reading fails with
    /// ``KeychainError/Code/interactionNotAllowed``. Two things are needed to store an item already:
    /// ``AccessControl/applicationPassword`` needs the password, in ``authenticationContext``, and
    /// ``AccessControl/biometryCurrentSet`` somebody who is enrolled.
    public var accessControl: AccessControl?

    /// Whether the items are the synchronizable ones. A local and a synchronizable item of the same
    /// account are two items.
    public var isSynchronizable: Bool

    /// Whether and how a person may be asked when an item needs one.
    public var interaction: Interaction

    /// Whose authentication and application password count for the keychain's operations; nil to ask a person
    /// each time.
    public var authenticationContext: AuthenticationContext?

    /// Whether the values of expired items are read, too (``KeychainItem/Expiry``).
    public var readsExpiredItems = false

    /// The generic passwords of a service.
    ///
    /// - Parameters:
    ///   - service: The name of the service, by custom in reverse-domain form.
    ///   - accessGroup: See ``accessGroup``.
    ///   - accessibility: See ``accessibility``; Apple's default, while unlocked, unless given.
    ///   - accessControl: See ``accessControl``.
    ///   - isSynchronizable: See ``isSynchronizable``.
    ///   - interaction: See ``interaction``.
    public init(
        service: String, accessGroup: String? = nil, accessibility: Accessibility = .whenUnlocked,
        accessControl: AccessControl? = nil, isSynchronizable: Bool = false, interaction: Interaction = .allowed
    ) {
        self.target = .service(service)
        self.accessGroup = accessGroup
        self.accessibility = accessibility
        self.accessControl = accessControl
        self.isSynchronizable = isSynchronizable
        self.interaction = interaction
    }

    /// The internet passwords for a server.
    ///
    /// ```swift
    /// let keychain = Keychain(server: InternetServer(host: "imap.example.com", protocol: .imaps, port: 993))
    /// try keychain.set(password, for: "ada")
    /// ```
    ///
    /// The parameters other than the server are those of
    /// ``init(service:accessGroup:accessibility:accessControl:isSynchronizable:interaction:)``.
    public init(
        server: InternetServer, accessGroup: String? = nil, accessibility: Accessibility = .whenUnlocked,
        accessControl: AccessControl? = nil, isSynchronizable: Bool = false, interaction: Interaction = .allowed
    ) {
        self.target = .server(server)
        self.accessGroup = accessGroup
        self.accessibility = accessibility
        self.accessControl = accessControl
        self.isSynchronizable = isSynchronizable
        self.interaction = interaction
    }

    /// The name of the service; nil for a keychain of internet passwords.
    public var service: String? {
        if case .service(let name) = target { name } else { nil }
    }

    /// The server; nil for a keychain of generic passwords.
    public var server: InternetServer? {
        if case .server(let server) = target { server } else { nil }
    }
}
