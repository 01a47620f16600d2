import Foundation

/// The page about the house: a part that people write, and below it a table for each floor, made from the sources.
extension House {
    /// Where the written part ends.
    static let marker = "<!-- From here on `make house` writes what the sources say. -->"
    /// How much the lines of a module may change before the page has to be made again, as a part of them.
    private static let patience = 0.25

    /// The whole page, with the written part of `page`.
    func page(after page: String) -> String {
        let written = page.components(separatedBy: Self.marker).first ?? ""
        return written + Self.marker + "\n" + floors.map(table).joined()
    }

    private var floors: [(name: String, modules: [Module])] {
        var found: [(name: String, modules: [Module])] = []
        for module in modules where module.isInHouse {
            if found.last?.name != module.floor { found.append((module.floor, [])) }
            found[found.count - 1].modules.append(module)
        }
        return found
    }

    private func table(of floor: (name: String, modules: [Module])) -> String {
        let rows = floor.modules.map { module in
            let users = modules.filter { $0.isInHouse && $0.uses.contains(module.name) }.map(\.name)
            let own = Set(modules.map(\.name))
            let cells = [
                "[`\(module.name)`](../\(module.folder))", module.job,
                module.entry.map { "`\($0)`" } ?? "", module.uses.filter(own.contains).joined(separator: ", "),
                users.joined(separator: ", "), "\(module.lines)", testers(of: module).joined(separator: ", "),
            ]
            return "| " + cells.joined(separator: " | ") + " |\n"
        }
        return "\n## \(floor.name)\n\n| module | what it does | start with | uses | used by | lines | tests |\n"
            + "|---|---|---|---|---|---|---|\n" + rows.joined()
    }

    /// The targets that test a module: its own, and those that its sign names.
    func testers(of module: Module) -> [String] {
        modules.map(\.name).filter { $0 == module.name + "Tests" } + module.namedTesters
    }

    /// What is wrong with the page.
    func problems(ofPage page: String) -> [String] {
        var found: [String] = []
        let expected = rows(self.page(after: page))
        let present = rows(page)
        for (row, lines) in expected {
            guard let known = present[row] else {
                found.append("House.md has not this row, or another in its place: \(row); run `make house`")
                continue
            }
            if abs(Double(known - lines)) > Self.patience * Double(max(lines, 100)) {
                found.append(
                    "House.md counts \(known) lines, and there are \(lines): \(row.prefix(30)); run `make house`")
            }
        }
        for row in present.keys where expected[row] == nil {
            found.append("House.md has a row for nothing: \(row.prefix(60)); run `make house`")
        }
        // The answers of the written part: a module, and a type in it.
        let written = page.components(separatedBy: Self.marker).first ?? ""
        for answer in written.matches(of: #/\| `(\w+)`, `(\w+)`/#) {
            let module = modules.first { $0.name == String(answer.1) }
            if module?.declares(String(answer.2)) != true {
                found.append("House.md says that \(answer.1) has \(answer.2), and it has not")
            }
        }
        return found
    }

    /// The rows of the modules without their lines, and their lines.
    private func rows(_ page: String) -> [String: Int] {
        let tables = page.components(separatedBy: Self.marker).last ?? ""
        var found: [String: Int] = [:]
        for line in tables.split(separator: "\n") where line.hasPrefix("| [") {
            var cells = line.components(separatedBy: " | ")
            guard cells.count == 7, let lines = Int(cells.remove(at: 5)) else { continue }
            found[cells.joined(separator: " | ")] = lines
        }
        return found
    }
}
