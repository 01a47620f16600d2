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

        /// Tests and programs for them need no sign.
        var isInHouse: Bool { folder.hasPrefix("Sources/") }
    }

    /// In the manifest's order, which is from the ground up.
    var modules: [Module]
    /// Folders of modules that the manifest does not name.
    var strangers: [String]

    init(_ root: URL) throws {
        modules = try Self.modules(String(contentsOf: root.appending(path: "Package.swift"), encoding: .utf8))
        for index in modules.indices { try modules[index].read(root) }
        let sources = root.appending(path: "Sources")
        let known = Set(modules.map(\.folder))
        strangers = try FileManager.default.contentsOfDirectory(atPath: sources.path).flatMap { floor in
            try FileManager.default.contentsOfDirectory(atPath: sources.appending(path: floor).path)
                .map { "Sources/\(floor)/\($0)" }
        }.filter { !known.contains($0) }
    }

    /// The products of other packages that the manifest has short names for, and their modules.
    private static let products = [
        "crypto": "Crypto", "cryptoExtras": "CryptoExtras", "asn1": "SwiftASN1", "grdb": "GRDB",
        "arguments": "ArgumentParser", "lifecycle": "ServiceLifecycle", "logging": "Logging", "metrics": "Metrics",
        "signals": "UnixSignals", "configuration": "Configuration", "hummingbird": "Hummingbird",
        "httpTypes": "HTTPTypes",
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
        }
        return found
    }
}

extension House.Module {
    fileprivate mutating func read(_ root: URL) throws {
        let place = root.appending(path: folder)
        let files = FileManager.default.enumerator(at: place, includingPropertiesForKeys: nil)
        while let file = files?.nextObject() as? URL {
            switch file.pathExtension {
            case "swift": try read(String(contentsOf: file, encoding: .utf8))
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

    private mutating func read(_ source: String) {
        isSwift = true
        text += source
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
    private func declares(_ name: String = "") -> Bool {
        ["class", "struct", "enum", "protocol", "func", "typealias", "actor"].contains {
            text.contains("\($0) \(name)")
        }
    }

    var problemOfSign: String? {
        guard let sign else { return "it has no sign: \(folder)/\(name).docc/\(name).md" }
        guard isSwift else { return nil }
        guard sign.hasPrefix("# ``\(name.replacing("-", with: "_"))``\n") else { return "its sign has not its name" }
        guard sign.contains("It may use") else { return "its sign does not say what it may use" }
        guard let entry = sign.firstMatch(of: #/Start with ``(\w+)``/#) else {
            return declares() ? "its sign does not say where to start" : nil
        }
        return declares(String(entry.1)) ? nil : "it has no \(entry.1), with which its sign tells to start"
    }
}
