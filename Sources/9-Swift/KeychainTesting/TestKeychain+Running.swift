import ProcessVault
import VaultInterface

extension TestKeychain {
    // Generic in the error: the compiler (6.3.1) crashes on an asynchronous closure that throws a typed error where an
    // untyped one is expected.

    /// Runs `body` with this keychain in the place of the process's own.
    ///
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws.
    public func run<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        let result = VaultSession.$override.withValue(self) { () -> Result<R, E> in
            do throws(E) {
                return .success(try body())
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// Runs `body` with this keychain in the place of the process's own. Tasks that `body` starts
    /// inherit it, unless they are detached.
    ///
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws.
    public func run<R, E: Error>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws(E) -> R
    ) async throws(E) -> R {
        let result = await VaultSession.$override.withValue(
            self,
            operation: { () async -> Result<R, E> in
                do throws(E) {
                    return .success(try await body())
                } catch {
                    return .failure(error)
                }
            }, isolation: isolation)
        return try result.get()
    }

    /// Puts this keychain in the place of the process's own for the whole process, until
    /// ``restoreProcessKeychain()``.
    ///
    /// It is for code under test that leaves its task: threads, Dispatch queues, `Task.detached`. The
    /// process has one such place, so tests that use it have to run one after the other, in Swift
    /// Testing with the trait `.serialized`. A keychain whose ``run(_:)`` is in progress goes
    /// before this one.
    public func replaceProcessKeychain() { ProcessVault.replace(with: self) }

    /// Ends what ``replaceProcessKeychain()`` began: the process uses its own keychain again.
    public static func restoreProcessKeychain() { ProcessVault.replace(with: nil) }
}

/// Runs `body` with a new, empty keychain in the place of the process's own.
///
/// - Parameters:
///   - client: Who uses the keychain.
///   - body: Gets the keychain as the world to change.
/// - Returns: What `body` returns.
/// - Throws: What `body` throws, or ``TestKeychainError``.
public func withTestKeychain<R>(
    client: TestClient = TestClient(), _ body: (TestKeychain) throws -> R
) throws -> R {
    let world = try TestKeychain(client: client)
    return try world.run { try body(world) }
}

/// Runs `body` with a new, empty keychain in the place of the process's own.
///
/// - Parameters:
///   - client: Who uses the keychain.
///   - body: Gets the keychain as the world to change.
/// - Returns: What `body` returns.
/// - Throws: What `body` throws, or ``TestKeychainError``.
public func withTestKeychain<R>(
    client: TestClient = TestClient(), isolation: isolated (any Actor)? = #isolation,
    _ body: (TestKeychain) async throws -> R
) async throws -> R {
    let world = try TestKeychain(client: client)
    return try await world.run { try await body(world) }
}
