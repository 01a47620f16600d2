import SystemBus

/// The prompts of one program: each waits until the vault is unlocked, or its time is over.
///
/// The service has no window to ask in. Somebody unlocks the vault in another way, such as with `keychain unlock`.
struct SecretPrompts {
    private struct Prompt {
        let path: String
        let objects: [String]
        /// Nil until the program has started it, after it listens for the end.
        var deadline: ContinuousClock.Instant?
        var isDismissed = false
    }

    private var prompts: [Prompt] = []
    /// The most prompts of one program; one more takes the place of the oldest.
    private static let most = 16

    /// The most bytes of the paths of one program's prompts.
    private static let mostBytes = 64 << 10

    /// - Returns: The path of a prompt that unlocks `objects`; nil if they are too many.
    mutating func add(_ objects: [String], _ id: String) -> String? {
        func size(_ objects: [String]) -> Int { objects.reduce(0) { $0 + $1.utf8.count } }
        let more = size(objects)
        guard more <= Self.mostBytes else { return nil }
        var bytes = prompts.reduce(more) { $0 + size($1.objects) }
        while prompts.count >= Self.most || bytes > Self.mostBytes {
            bytes -= size(prompts.removeFirst().objects)
        }
        let path = SecretPath.prompt(id).text
        prompts.append(Prompt(path: path, objects: objects, deadline: nil))
        return path
    }

    /// - Returns: False if there is no such prompt.
    mutating func start(_ path: String, until deadline: ContinuousClock.Instant) -> Bool {
        guard let index = prompts.firstIndex(where: { $0.path == path }) else { return false }
        prompts[index].deadline = min(deadline, prompts[index].deadline ?? deadline)
        return true
    }

    /// Ends a prompt as soon as possible.
    ///
    /// - Returns: False if there is no such prompt.
    mutating func dismiss(_ path: String, now: ContinuousClock.Instant) -> Bool {
        guard start(path, until: now), let index = prompts.firstIndex(where: { $0.path == path }) else { return false }
        prompts[index].isDismissed = true
        return true
    }

    var deadline: ContinuousClock.Instant? { prompts.compactMap(\.deadline).min() }

    /// Ends the prompts that are over, and returns their signals.
    ///
    /// - Parameter timedOut: Called if nobody unlocked the vault in time.
    mutating func complete(isLocked: Bool, now: ContinuousClock.Instant, timedOut: () -> Void) -> [SentSignal] {
        let over = prompts.filter { prompt in prompt.deadline.map { !isLocked || $0 <= now } ?? false }
        prompts.removeAll { prompt in over.contains { $0.path == prompt.path } }
        if isLocked, over.contains(where: { !$0.isDismissed }) { timedOut() }
        return over.map { prompt in
            SentSignal(
                path: prompt.path, interface: SecretInterface.prompt.rawValue, member: "Completed",
                values: [
                    .boolean(isLocked),
                    .variant(.array(of: "o", isLocked ? [] : prompt.objects.map { .path($0) })),
                ])
        }
    }
}
