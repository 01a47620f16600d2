import Bytes
import CommandKit
import PasswordCommands

/// Turns the state of the screen into lines.
package struct ScreenView {
    private let widths: CharacterWidths

    package init(_ widths: CharacterWidths) { self.widths = widths }

    /// Returns a line for each row of the screen.
    ///
    /// - Parameter model: Its place in long panes is limited to what there is.
    package func lines(_ model: inout ScreenModel, now: ScreenModel.Moment) -> [ScreenLine] {
        model.settle()
        model.adjust()
        var lines: [ScreenLine] =
            switch model.pane {
            case .list, .search: list(model)
            case .details: part(details(model, now), &model)
            case .audit: part(audit(model), &model)
            case .help: part(help(model), &model)
            }
        // A long message takes some rows more, for a while.
        let bottom = status(model).prefix(max(1, model.rows / 2))
        let height = max(0, model.rows - bottom.count)
        lines = Array(lines.prefix(height))
        while lines.count < height { lines.append(line("", .plain, model)) }
        return lines + bottom
    }

    private func line(_ text: String, _ style: ScreenLine.Style, _ model: ScreenModel) -> ScreenLine {
        ScreenLine(text, style, to: model.columns, widths)
    }

    /// Returns the lines of a long text that are on the screen.
    private func part(_ lines: [ScreenLine], _ model: inout ScreenModel) -> [ScreenLine] {
        let height = max(1, model.rows - 1)
        model.scroll = max(0, min(model.scroll, lines.count - height))
        return Array(lines.dropFirst(model.scroll).prefix(height))
    }

    private func list(_ model: ScreenModel) -> [ScreenLine] {
        let shares = Self.shares(of: model.columns - 2)
        var lines: [ScreenLine] = []
        if model.rows > 3 {
            lines.append(line("  " + row(["service", "account", "group", "label"], shares), .head, model))
        }
        for place in model.found.indices.dropFirst(model.top).prefix(model.listRows) {
            let entry = model.contents.entries[model.found[place]]
            let remark = entry.remark.map { [$0] } ?? []
            let label = ([entry.label].compactMap(\.self) + remark).joined(separator: ", ")
            let cells = [entry.name, entry.account, entry.group, label].map(\.escapedForTerminal)
            let isSelected = place == model.selection
            lines.append(line((isSelected ? "> " : "  ") + row(cells, shares), isSelected ? .selected : .plain, model))
        }
        if model.found.isEmpty {
            let reason =
                if !model.contents.isComplete {
                    "reading the vault …"
                } else if !model.query.isEmpty {
                    "no password has these words: Esc shows all"
                } else if model.isLocked {
                    "the vault is locked: u unlocks it"
                } else {
                    "no passwords: `keychain set` stores one"
                }
            lines.append(line("  " + reason, .plain, model))
        }
        return lines
    }

    /// The widths of the columns. They do not depend on what is in them: a list that scrolls stays where it is.
    private static func shares(of width: Int) -> [Int] {
        let percents = width >= 60 ? [36, 26, 18, 20] : width >= 38 ? [42, 33, 25] : width >= 14 ? [58, 42] : [100]
        return percents.map { max(1, width * $0 / 100) }
    }

    private func row(_ cells: [String], _ shares: [Int]) -> String {
        zip(cells, shares).enumerated().map { index, cell in
            let room = max(1, cell.1 - (index == shares.count - 1 ? 0 : 2))
            let (text, width) = widths.cut(cell.0, to: room)
            return text + String(repeating: " ", count: max(0, cell.1 - width))
        }.joined()
    }

    private func details(_ model: ScreenModel, _ now: ScreenModel.Moment) -> [ScreenLine] {
        guard let entry = model.entry else { return [] }
        var lines: [ScreenLine] = []
        if let secret = model.secret {
            let seconds = ScreenModel.seconds(from: now, to: secret.until)
            lines.append(line("secret, hidden in \(seconds) s (r hides it now):", .note, model))
            lines += shown(secret: secret.text, model)
            lines.append(line("", .plain, model))
        }
        if let code = model.code {
            let left = code.ends.map { "good for \(ScreenModel.seconds(from: now, to: $0)) s" } ?? "by a counter"
            lines.append(line("one-time code, \(left) (c copies it):", .note, model))
            lines.append(line(code.text, .secret, model))
            lines.append(line("", .plain, model))
        }
        return lines + pairs(entry.item.facts + model.versions, model)
    }

    /// Returns a secret as it is, if it can be shown so; otherwise with escapes, and with a line that says it.
    private func shown(secret: String, _ model: ScreenModel) -> [ScreenLine] {
        let lines = secret.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let isPlain = lines.allSatisfy { line in !line.unicodeScalars.contains(where: \.controlsTerminal) }
        let texts = isPlain ? lines.map(String.init) : lines.map { String($0).escapedForTerminal }
        return texts.flatMap { widths.wrapped($0, to: model.columns) }.map { line($0, .secret, model) }
            + (isPlain ? [] : [line("(with control characters, written as escapes)", .note, model)])
    }

    private func pairs(_ rows: [[String]], _ model: ScreenModel) -> [ScreenLine] {
        let longest = rows.compactMap { $0.first?.count }.max() ?? 0
        let indent = min(longest + 2, max(2, model.columns / 3))
        return rows.flatMap { row -> [ScreenLine] in
            let (name, width) = widths.cut(row.first ?? "", to: max(1, indent - 1))
            let texts = widths.wrappedBetweenWords(row.last ?? "", to: model.columns - indent)
            return texts.enumerated().map { index, text in
                let start = index == 0 ? name + String(repeating: " ", count: max(0, indent - width)) : ""
                return line(
                    (index == 0 ? start : String(repeating: " ", count: indent)) + text, .plain, model)
            }
        }
    }

    private func audit(_ model: ScreenModel) -> [ScreenLine] {
        guard !model.audit.isEmpty else {
            return [line("no audit records: keychaind keeps a log (see `keychain help audit`)", .plain, model)]
        }
        let table = Table(model.audit).text(aligned: true)
        return table.split(separator: "\n", omittingEmptySubsequences: false).map { line(String($0), .plain, model) }
    }

    private func help(_ model: ScreenModel) -> [ScreenLine] {
        pairs(
            [
                ["up, down, k, j", "the one before, the next one"],
                ["PgUp, PgDn, space", "a page back, a page on"],
                ["g, G", "the first one, the last one"],
                ["/", "search by words; Enter keeps what was found, Esc shows all"],
                ["Enter", "what is known about it"],
                ["r", "show the secret for 15 seconds; r again hides it"],
                ["c", "copy the secret, or the one-time code that is shown, for a while"],
                ["o", "show the one-time code"],
                ["l, u", "lock, unlock the vault"],
                ["a", "the last audit records"],
                ["q, Esc", "back; from the list, q leaves"],
                ["Ctrl-L, Ctrl-Z, Ctrl-C", "draw the screen anew, stop, leave"],
            ], model)
    }

    private func status(_ model: ScreenModel) -> [ScreenLine] {
        if model.pane == .search {
            let place = "/\(model.query.escapedForTerminal)_"
            return [line("\(place)  \(Self.count(model))", .head, model)]
        }
        if let message = model.message {
            return widths.wrappedBetweenWords(message.text, to: model.columns).map {
                line($0, message.isError ? .error : .note, model)
            }
        }
        let lock =
            switch model.contents.lock {
            case .none: "no passcode"
            case .unlocked: "unlocked"
            case .locked: "LOCKED (u unlocks)"
            }
        var parts = [model.contents.isComplete || !model.contents.entries.isEmpty ? lock : "…", Self.count(model)]
        if model.contents.lockedCount > 0 { parts.append("\(model.contents.lockedCount) locked") }
        if model.contents.damagedCount > 0 {
            parts.append("\(model.contents.damagedCount) damaged (keychain status --verify)")
        }
        if !model.query.isEmpty { parts.append("/\(model.query.escapedForTerminal)") }
        parts.append(model.pane == .list ? "? keys" : "q back")
        return [line(parts.joined(separator: "  "), model.isLocked ? .error : .head, model)]
    }

    private static func count(_ model: ScreenModel) -> String {
        let all = model.contents.entries.count
        let items = all == 1 ? "1 item" : "\(all) items"
        return model.query.isEmpty ? items : "\(model.found.count) of \(items)"
    }
}
