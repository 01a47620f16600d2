import Bytes
import FoundationEssentials
import PasswordCommands

/// A task that a key gives to the terminal or the vault.
package enum ScreenEffect: Sendable, Equatable {
    case leave, stop, redraw
    case versions(ScreenEntry)
    case reveal(ScreenEntry)
    /// Copies the secret of an entry.
    case copy(ScreenEntry)
    case copyCode(String)
    /// Makes the one-time code of an entry that is made for that.
    case code(ScreenEntry)
    case audit, lock, unlock
}

/// The state of the screen. It knows neither a terminal nor a vault.
package struct ScreenModel: Sendable {
    package typealias Moment = ContinuousClock.Instant

    package enum Pane: Sendable, Equatable { case list, search, details, audit, help }

    /// How long a secret is shown.
    package static let revealed = Duration.seconds(15)
    /// How long one-time codes are shown, one after the other.
    private static let codesShown = Duration.seconds(60)
    private static let messageShown = Duration.seconds(6)

    package struct Secret: Sendable, Equatable {
        package let text: String
        package let until: Moment
    }

    package struct Code: Sendable, Equatable {
        package let text: String
        /// When the next code begins; nil for a code that a counter made.
        package let ends: Moment?
        /// When no further code is shown.
        package let until: Moment
        fileprivate let source: ScreenEntry
    }

    package var columns = 80
    package var rows = 24

    package private(set) var contents = ScreenContents()
    package private(set) var pane = Pane.list
    package private(set) var query = ""
    /// The places in the list of the entries that are shown.
    package private(set) var found: [Int] = []
    /// The selected one of these, and the first of them on the screen.
    package private(set) var selection = 0
    package private(set) var top = 0
    /// The first line on the screen, in the other panes.
    package var scroll = 0
    package private(set) var secret: Secret?
    package private(set) var code: Code?
    package private(set) var message: (text: String, isError: Bool, until: Moment)?
    package private(set) var versions: [[String]] = []
    package private(set) var audit: [[String]] = []

    /// What is searched, made at the first search of these contents.
    private var subjects: [PasswordRanking.Subject]?
    private var isStale = false
    private var selected: UUID?

    package init() {}

    package var entry: ScreenEntry? {
        found.indices.contains(selection) ? contents.entries[found[selection]] : nil
    }

    /// How many entries fit on the screen.
    package var listRows: Int { max(1, rows - (rows > 3 ? 2 : 1)) }

    package var isLocked: Bool { contents.lock == .locked }
}

// What happens.
extension ScreenModel {
    package mutating func take(_ new: ScreenContents) {
        let wasLocked = isLocked
        contents = new
        subjects = nil
        isStale = true
        settle()
        if isLocked, !wasLocked { hide() }
    }

    /// Searches, if the words or the entries are others than at the last time.
    package mutating func settle() {
        guard isStale else { return }
        isStale = false
        let words = query.split(whereSeparator: \.isWhitespace).map(String.init)
        if words.isEmpty {
            found = Array(contents.entries.indices)
        } else {
            let searched = subjects ?? contents.entries.map { PasswordRanking.Subject($0.item) }
            subjects = searched
            found = PasswordRanking.order(searched, words)
        }
        let kept = selected.flatMap { wanted in found.firstIndex { contents.entries[$0].identifier == wanted } }
        if kept == nil, pane == .details, contents.isComplete {
            // Another item must not take the place of the one whose details are shown.
            show(.list)
            message = ("the item cannot be seen any more", false, .now + Self.messageShown)
        }
        select(kept ?? selection)
        if kept == nil, !contents.isComplete { selected = nil }
    }

    package mutating func tell(_ text: String, isError: Bool = false, now: Moment) {
        message = (text, isError, now + Self.messageShown)
    }

    package mutating func reveal(_ text: String, now: Moment) {
        show(.details)
        code = nil
        secret = Secret(text: text, until: now + Self.revealed)
    }

    /// - Parameter seconds: For how long the code is good; nil for one that a counter made.
    package mutating func show(code text: String, of source: ScreenEntry, seconds: Int?, now: Moment) {
        let until = code.flatMap { $0.source == source ? $0.until : nil } ?? now + Self.codesShown
        show(.details)
        secret = nil
        code = Code(text: text, ends: seconds.map { now + .seconds($0) }, until: until, source: source)
    }

    package mutating func show(versions: [[String]]) { self.versions = versions }

    package mutating func show(audit rows: [[String]]) {
        show(.audit)
        audit = rows
        // The last records are at the end.
        scroll = max(0, rows.count - max(1, self.rows - 1))
    }

    /// Removes secrets from the screen.
    package mutating func hide() { (secret, code) = (nil, nil) }

    /// Removes secrets, codes and messages whose time is over.
    package mutating func tick(_ now: Moment) -> [ScreenEffect] {
        if let message, message.until <= now { self.message = nil }
        if let secret, secret.until <= now { self.secret = nil }
        guard let code, (code.ends ?? code.until) <= now || code.until <= now else { return [] }
        guard code.ends != nil, code.until > now, code.source.remark == nil else {
            self.code = nil
            return []
        }
        return [.code(code.source)]
    }

    /// When the screen changes by itself; nil if it does not.
    package func nextMoment(_ now: Moment) -> Moment? {
        let ends = [secret?.until, code?.ends, code?.until].compactMap(\.self).filter { $0 > now }
        // A countdown changes when a whole number of seconds is left.
        let steps = ends.map { end in end - .seconds(Self.seconds(from: now, to: end) - 1) }
        return (steps + [message?.until].compactMap(\.self)).min()
    }

    /// Returns the time between two moments, rounded up.
    package static func seconds(from now: Moment, to end: Moment) -> Int {
        Int(clamping: max(0, (now.duration(to: end) / .seconds(1)).rounded(.up)))
    }
}

// What a person does.
extension ScreenModel {
    package mutating func handle(_ key: Key) -> [ScreenEffect] {
        switch key {
        case .control("c"): return [.leave]
        case .control("z"):
            hide()
            return [.stop]
        case .control("l"): return [.redraw]
        default: break
        }
        message = nil
        switch pane {
        case .search: return search(key)
        case .list: return list(key)
        case .details: return details(key)
        case .audit, .help: return read(key)
        }
    }

    private mutating func search(_ key: Key) -> [ScreenEffect] {
        switch key {
        case .scalar(let scalar): query.unicodeScalars.append(scalar)
        case .backspace:
            guard !query.isEmpty else {
                show(.list)
                return []
            }
            query.removeLast()
        case .control("u"): query = ""
        case .escape:
            query = ""
            show(.list)
        case .enter:
            show(.list)
            return []
        default:
            _ = move(key)
            return []
        }
        (selected, selection, isStale) = (nil, 0, true)
        return []
    }

    private mutating func list(_ key: Key) -> [ScreenEffect] {
        settle()
        switch key {
        case .scalar("/"):
            show(.search)
        case .escape:
            (query, isStale) = ("", true)
        case .scalar("q"): return [.leave]
        case .enter, .right:
            guard let entry else { return [] }
            show(.details)
            return [.versions(entry)]
        default:
            if !move(key) { return act(key) }
        }
        return []
    }

    private mutating func details(_ key: Key) -> [ScreenEffect] {
        switch key {
        case .scalar("q"), .escape, .left, .backspace, .enter: show(.list)
        case .scalar("c"):
            if let code { return [.copyCode(code.text)] }
            return act(key)
        default:
            if !scroll(key) { return act(key) }
        }
        return []
    }

    private mutating func read(_ key: Key) -> [ScreenEffect] {
        switch key {
        case .scalar("q"), .escape, .left, .backspace, .enter: show(.list)
        default:
            if !scroll(key) { return act(key) }
        }
        return []
    }

    /// Does what can be done in each pane.
    private mutating func act(_ key: Key) -> [ScreenEffect] {
        switch key {
        case .scalar("r"):
            // A second press takes the secret away.
            if secret != nil {
                hide()
                return []
            }
            return entry.map { pane == .details ? [.reveal($0)] : [.versions($0), .reveal($0)] } ?? []
        case .scalar("c"): return entry.map { [.copy($0)] } ?? []
        case .scalar("o"):
            guard let entry else { return [] }
            guard let source = codeSource(of: entry) else {
                message = ("no one-time code is stored for it", true, .now + Self.messageShown)
                return []
            }
            return pane == .details ? [.code(source)] : [.versions(entry), .code(source)]
        case .scalar("a"): return [.audit]
        case .scalar("l"): return [.lock]
        case .scalar("u"): return [.unlock]
        case .scalar("?"): show(.help)
        default: break
        }
        return []
    }

    /// Returns the entry that makes the one-time codes for an entry: itself, or that of its site and account, or the
    /// only one of its site.
    private func codeSource(of entry: ScreenEntry) -> ScreenEntry? {
        if entry.codeSite != nil { return entry }
        let sources = contents.entries.filter { $0.codeSite.map { $0 == entry.name } ?? false }
        return sources.first { $0.account == entry.account } ?? (sources.count == 1 ? sources.first : nil)
    }

    /// - Returns: Whether the key moves the selection.
    private mutating func move(_ key: Key) -> Bool {
        settle()
        let isTyping = pane == .search
        switch key {
        case .up: select(selection - 1)
        case .down: select(selection + 1)
        case .pageUp, .control("b"): select(selection - listRows)
        case .pageDown, .control("f"): select(selection + listRows)
        case .home: select(0)
        case .end: select(found.count - 1)
        case .scalar("k") where !isTyping: select(selection - 1)
        case .scalar("j") where !isTyping: select(selection + 1)
        case .scalar(" ") where !isTyping: select(selection + listRows)
        case .scalar("g") where !isTyping: select(0)
        case .scalar("G") where !isTyping: select(found.count - 1)
        default: return false
        }
        return true
    }

    /// - Returns: Whether the key scrolls.
    private mutating func scroll(_ key: Key) -> Bool {
        let page = max(1, rows - 2)
        // The view limits it: it knows how many lines there are.
        switch key {
        case .up, .scalar("k"): scroll -= 1
        case .down, .scalar("j"): scroll += 1
        case .pageUp, .control("b"): scroll -= page
        case .pageDown, .control("f"), .scalar(" "): scroll += page
        case .home, .scalar("g"): scroll = 0
        case .end, .scalar("G"): scroll = 1_000_000
        default: return false
        }
        scroll = max(0, scroll)
        return true
    }

    private mutating func select(_ place: Int) {
        selection = max(0, min(place, found.count - 1))
        selected = entry?.identifier
        adjust()
    }

    /// Brings the selection onto the screen.
    package mutating func adjust() {
        if selection < top { top = selection }
        if selection >= top + listRows { top = selection - listRows + 1 }
        top = max(0, min(top, found.count - listRows))
    }

    private mutating func show(_ next: Pane) {
        guard next != pane else { return }
        if next != .details {
            hide()
            versions = []
        }
        if next == .details { selected = entry?.identifier }
        pane = next
        scroll = 0
    }
}
