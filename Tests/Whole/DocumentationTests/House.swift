import Foundation

/// The modules as `Package.swift` draws them, and as their sources are.
struct House {
    struct Module {
        var name: String
        /// From the package's folder on.
        var folder: String
        /// What the manifest says that it imports.
        var uses: [String]
        /// What the manifest says that it needs without importing it.
        var links: [String]
        var imports: Set<String> = []
        /// Its Swift sources.
        var text = ""
        /// Whether it has Swift sources.
        var isSwift = false
        /// The text of its sign; nil if it has none.
        var sign: String?
        /// The lines of its sources.
        var lines = 0
        /// The sources of more than 500 lines, from the package's folder on.
        var longFiles: [String] = []

        /// Tests and programs for them need no sign.
        var isInHouse: Bool { folder.hasPrefix("Sources/") }
        /// The name of its floor, such as "1-Ground".
        var floor: String { folder.split(separator: "/").dropFirst().first.map(String.init) ?? "" }
    }

    /// In the manifest's order, which is from the ground up.
    var modules: [Module]
    /// Folders of modules and of tests that the manifest does not name.
    var strangers: [String]
    /// The targets of tests in the examples' packages.
    var testsOfExamples: Set<String>

    init(_ root: URL) throws {
        modules = try Self.modules(String(contentsOf: root.appending(path: "Package.swift"), encoding: .utf8))
        for index in modules.indices { try modules[index].read(root) }
        let known = Set(modules.map(\.folder))
        let files = FileManager.default
        // What tests need besides is in a folder of its own.
        strangers = try ["Sources", "Tests"].flatMap { part in
            try files.contentsOfDirectory(atPath: root.appending(path: part).path).filter { $0 != "Support" }
                .flatMap { floor in
                    try files.contentsOfDirectory(atPath: root.appending(path: "\(part)/\(floor)").path)
                        .map { "\(part)/\(floor)/\($0)" }
                }
        }.filter { !known.contains($0) }
        let examples = try String(
            contentsOf: root.appending(path: "Examples/Friendvatars/Package.swift"), encoding: .utf8)
        testsOfExamples = Set(examples.matches(of: #/name: "(\w+Tests)"/#).map { String($0.1) })
    }

    /// The products of other packages that the manifest has short names for, and their modules.
    private static let products = [
        "crypto": "Crypto", "cryptoExtras": "CryptoExtras", "asn1": "SwiftASN1", "grdb": "GRDB",
        "arguments": "ArgumentParser", "lifecycle": "ServiceLifecycle", "logging": "Logging", "metrics": "Metrics",
        "signals": "UnixSignals", "configuration": "Configuration", "hummingbird": "Hummingbird",
        "httpTypes": "HTTPTypes", "nioCore": "NIOCore", "nioHTTP": "NIOHTTP1", "nioPosix": "NIOPosix",
        "nioCompression": "NIOHTTPCompression", "nioHTTP2": "NIOHTTP2", "nioTLS": "NIOTLS",
        "nioWebSocket": "NIOWebSocket", "asyncAlgorithms": "AsyncAlgorithms",
        "nioSSL": "NIOSSL",
        "httpClient": "AsyncHTTPClient", "toml": "TOMLKit",
    ]

    /// The C libraries of the systems, which one module imports for all.
    private static let libraries: Set = ["Glibc", "Musl", "Android", "Darwin"]

    private static func modules(_ manifest: String) -> [Module] {
        let call = #/floor\(\s*"(?<floor>[^"]+)"|(?:module|library|program|tests)\(\s*"(?<name>[^"]+)"(?<rest>[^()]*)/#
        var floor = ""
        return manifest.matches(of: call).compactMap { match in
            guard let name = match.name.map(String.init) else {
                floor = match.floor.map(String.init) ?? ""
                return nil
            }
            let arguments = String(match.rest ?? "")
            let path = arguments.firstMatch(of: #/path: "([^"]+)"/#).map { String($0.1) }
            func words(after label: String) -> [String] {
                guard let start = arguments.range(of: label + ":")?.upperBound else { return [] }
                let end = arguments[start...].firstMatch(of: #/,\s*\w+:/#)?.range.lowerBound ?? arguments.endIndex
                return arguments[start..<end].matches(of: #/[\w-]+/#).map { products[String($0.0)] ?? String($0.0) }
            }
            return Module(
                name: name, folder: path ?? "\(floor)/\(name)", uses: words(after: "uses"), links: words(after: "links")
            )
        }
    }

    /// What is not as it should be.
    var problems: [String] {
        var found = strangers.map { "\($0) is not in Package.swift" }
        let own = Set(modules.map(\.name))
        var below: Set<String> = []
        for module in modules {
            let name = module.name
            for use in module.uses where own.contains(use) && !below.contains(use) && module.isInHouse {
                found.append("\(name) uses \(use), which does not stand below it")
            }
            for use in module.uses where module.isSwift && !module.imports.contains(use) {
                found.append("\(name) is declared to use \(use), and imports it nowhere")
            }
            let products = Set(Self.products.values)
            for imported in module.imports.sorted()
            where (own.contains(imported) || products.contains(imported)) && !module.uses.contains(imported) {
                found.append("\(name) imports \(imported), and does not declare it")
            }
            for imported in module.imports.sorted()
            where Self.libraries.contains(imported) && module.isInHouse && name != "CLibrary" {
                found.append("\(name) imports \(imported), and not CLibrary")
            }
            below.insert(name)
            if module.isInHouse, let problem = module.problemOfSign { found.append("\(name): \(problem)") }
            for forbidden in module.forbidden where module.imports.contains(forbidden) {
                found.append("\(name) imports \(forbidden), which its sign forbids")
            }
            found += module.longFiles.map { "\($0) has more than 500 lines" }
            if module.isInHouse, module.isSwift { found += problemsOfTests(module) }
        }
        return found + problemsOfOperations + problemsOfCommands
    }

    private func problemsOfTests(_ module: Module) -> [String] {
        let testers = testers(of: module)
        guard !testers.isEmpty else { return ["\(module.name) has no tests, and its sign does not say who tests it"] }
        return testers.filter { !testsOfExamples.contains($0) }.compactMap { tester in
            if !modules.contains(where: { $0.name == tester }) {
                return "\(module.name) is said to be tested by \(tester): there is none"
            }
            return reached(from: tester).contains(module.name)
                ? nil : "\(module.name) is said to be tested by \(tester), which does not use it"
        }
    }

    /// The modules that a target is built with.
    private func reached(from target: String) -> Set<String> {
        var found: Set<String> = []
        var next = [target]
        while let name = next.popLast() {
            guard let module = modules.first(where: { $0.name == name }) else { continue }
            next += (module.uses + module.links).filter { found.insert($0).inserted }
        }
        return found
    }

    /// Each operation with a number is in the list of the operations: a daemon refuses any other.
    private var problemsOfOperations: [String] {
        guard let contract = modules.first(where: { $0.name == "VaultInterface" })?.text,
            let list = contract.firstMatch(of: #/let operations: \[any VaultOperation\.Type\] = \[([^\]]*)\]/#)
        else { return ["VaultInterface has no list of operations"] }
        let listed = list.1.matches(of: #/(\w+)\.self/#).count
        let numbers = contract.matches(of: #/static let number: UInt8 = (\d+)/#).map { String($0.1) }
        guard Set(numbers).count == numbers.count else { return ["two operations have the same number"] }
        return listed == numbers.count ? [] : ["\(numbers.count) operations have a number, and \(listed) are listed"]
    }

    /// The sign of a module of commands lists them, each in its folder, and the program's list has all of them.
    private var problemsOfCommands: [String] {
        let list = #/case "([\w-]+)"(?:, "\w+")?: \w+Command\.self/#
        var all: Set<String> = []
        var found: [String] = []
        for module in modules where module.isInHouse {
            let known = Set(module.text.matches(of: list).map { String($0.1) })
            all.formUnion(known)
            // The program's own has no folder.
            guard !known.isEmpty, module.name != "KeychainCommand" else { continue }
            var listed: Set<String> = []
            for row in (module.sign ?? "").matches(of: #/\| `(\w+)` \|(.*)\|/#) {
                listed.formUnion(row.2.matches(of: #/`([\w-]+)(?: …)?`/#).map { String($0.1) })
            }
            found += known.subtracting(listed).sorted().map { "the sign of \(module.name) does not list \($0)" }
            found += listed.subtracting(known).sorted().map { "the sign of \(module.name) lists \($0): there is none" }
        }
        let tool = modules.first { $0.name == "KeychainCommand" }?.text
            .firstMatch(of: #/let groups: (.*?let hidden = [^\]]*)\]/#.dotMatchesNewlines())
        let names = Set((tool?.1 ?? "").matches(of: #/"([\w-]+)"/#).map { String($0.1) })
        return found + all.subtracting(names).sorted().map { "keychain's help does not have \($0)" }
            + names.subtracting(all).sorted().map { "keychain's help has \($0): there is none" }
    }
}

extension House.Module {
    fileprivate mutating func read(_ root: URL) throws {
        let place = root.appending(path: folder)
        let files = FileManager.default.enumerator(at: place, includingPropertiesForKeys: nil)
        while let file = files?.nextObject() as? URL {
            switch file.pathExtension {
            case "swift": try read(String(contentsOf: file, encoding: .utf8), file.lastPathComponent)
            case "md" where file.deletingLastPathComponent().pathExtension == "docc":
                sign = try String(contentsOf: file, encoding: .utf8)
            case "modulemap", "h":
                // A module of C has its sign at the top of one of its files.
                let text = try String(contentsOf: file, encoding: .utf8)
                if !isSwift, text.hasPrefix("// ") { sign = text }
            default: break
            }
        }
    }

    private mutating func read(_ source: String, _ name: String) {
        isSwift = true
        text += source
        let count = source.utf8.count { $0 == UInt8(ascii: "\n") }
        lines += count
        if count > 500 { longFiles.append("\(folder): \(name)") }
        // Such as `import Access`, `@_exported import Vault` and `@testable import Vault`.
        for line in source.utf8.split(separator: UInt8(ascii: "\n"))
        where line.starts(with: "import ".utf8) || line.first == UInt8(ascii: "@") {
            let words = line.split(separator: UInt8(ascii: " "))
            if let last = words.last, words.dropLast().last.map(Substring.init) == "import" {
                imports.insert(String(Substring(last)))
            }
        }
    }

    /// Whether its sources declare a type or a function, of that name if there is one.
    func declares(_ name: String = "") -> Bool {
        ["class", "struct", "enum", "protocol", "func", "typealias", "actor"].contains {
            text.contains("\($0) \(name)")
        }
    }

    var problemOfSign: String? {
        guard let sign else { return "it has no sign: \(folder)/\(name).docc/\(name).md" }
        guard isSwift else { return nil }
        guard sign.hasPrefix("# ``\(name.replacing("-", with: "_"))``\n") else { return "its sign has not its name" }
        guard let entry else { return declares() ? "its sign does not say where to start" : nil }
        return declares(entry) ? nil : "it has no \(entry), with which its sign tells to start"
    }

    /// The type or function with which its sign tells to start.
    var entry: String? { sign?.firstMatch(of: #/Start with `{1,2}(?:\w+\/)?(\w+)[`(]/#).map { String($0.1) } }

    /// The first sentence of its sign.
    var job: String {
        let comment = sign?.split(separator: "\n").prefix { $0.hasPrefix("//") } ?? []
        let paragraph =
            isSwift
            ? sign?.components(separatedBy: "\n\n").dropFirst().first ?? ""
            : comment.map { $0.drop { $0 == "/" || $0 == " " } }.joined(separator: " ")
        let line = paragraph.replacing("\n", with: " ").replacing("``", with: "`")
        guard let end = line.firstRange(of: ". ") else { return line }
        return line[..<end.lowerBound] + "."
    }

    /// The targets of tests that its sign names.
    var namedTesters: [String] {
        guard let line = sign?.firstMatch(of: #/Tested by ([^.]*)\./#) else { return [] }
        return line.1.matches(of: #/`(\w+Tests)`/#).map { String($0.1) }
    }

    /// The modules that its sign forbids.
    var forbidden: [String] {
        (sign ?? "").matches(of: #/It must not (?:use|import) ([^.:]*)/#).flatMap { sentence in
            // What comes after a comma that begins a reason is no list any more.
            sentence.1.components(separatedBy: ", which")[0].matches(of: #/`(\w+)`/#).map { String($0.1) }
        }
    }
}
