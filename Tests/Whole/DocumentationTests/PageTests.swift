import Foundation
import TestSupport
import Testing

/// Links and names of tests in the pages mean something, and the first pages stay short.
@Suite struct PageTests {
    private static let read = Result {
        try Pages(Repository.root)
    }
    private let pages: Pages

    init() throws { pages = try Self.read.get() }

    @Test func everyPageIsAsItShouldBe() {
        #expect(pages.texts.count > 80)
        #expect(pages.suites.count > 300)
        for problem in pages.problems { Issue.record("\(problem)") }
    }

    /// The problems of a page with one more line.
    private func problems(_ page: String, _ line: String) -> [String] {
        pages.problems(of: page, (pages.texts[page] ?? "") + "\n\(line)\n")
    }

    @Test func brokenLinksAreFound() {
        let page = "Documentation/Use/Keys.md"
        #expect(
            problems(page, "[a page](Nowhere.md)") == ["\(page) has a link to Nowhere.md, which does not exist"])
        #expect(
            problems(page, "[a folder](../../Examples/Nothing)")
                == ["\(page) has a link to ../../Examples/Nothing, which does not exist"])
        #expect(
            problems(page, "[a heading](../Operate/Daemon.md#nothing)")
                == ["\(page) has a link to ../Operate/Daemon.md#nothing, which has no such heading"])
        #expect(problems(page, "[here](#nothing)") == ["\(page) has a link to #nothing, which has no such heading"])
        #expect(
            problems(page, #"<img src="../Images/nothing.png">"#)
                == ["\(page) has a link to ../Images/nothing.png, which does not exist"])
        #expect(problems(page, "[there](../Operate/Daemon.md#limits) [here](#keys) `[code](Nowhere.md)`").isEmpty)
        #expect(problems(page, "[elsewhere](https://example.org/Nowhere.md#nothing)").isEmpty)
    }

    @Test func placesThatDoNotExistAreFound() {
        let page = "CONTRIBUTING.md"
        #expect(problems(page, "`Tests/Nowhere`") == ["\(page) names Tests/Nowhere, which does not exist"])
        #expect(problems(page, "`Scripts/no.sh --go`") == ["\(page) names Scripts/no.sh, which does not exist"])
        #expect(problems(page, "`Sources/` `Package.swift` `Sources/10-Programs/…` `Tests/Whole`").isEmpty)
    }

    @Test func headingsAreNamedAsInLinks() {
        let text =
            "# A `Module`, [and](x.md) more\n## Limits\n```sh\n# no heading\n```\n## Limits\n## audit.log, snake_case"
        #expect(Pages.headings(of: text) == ["a-module-and-more", "limits", "limits-1", "auditlog-snake_case"])
    }

    @Test func testsThatDoNotExistAreFound() {
        let page = "SECURITY.md"
        for name in ["NoSuchTests", "FloorTests.noSuchTest", "FloorTests/noSuchTest", "NoSuchTests.mistakesAreFound"] {
            #expect(problems(page, "`\(name)`") == ["\(page) names the test \(name), which does not exist"])
        }
        #expect(problems(page, "`FloorTests` `FloorTests.mistakesAreFound` `PageTests/longPagesAreFound`").isEmpty)
        let source = "@Suite struct A {\n    @Test func b() {}\n}\nextension C {\n    func d<T>(_ t: T) {}\n}"
        #expect(Pages.functions(in: source) == ["A": ["b"], "C": ["d"]])
    }

    @Test func claimsWithoutTestsAreFound() {
        let page = "Documentation/Security/Claims.md"
        let row = "| Nothing is ever lost. | everybody's word |"
        #expect(problems(page, row) == ["\(page) has a claim without a test: \(row)"])
        #expect(problems(page, "| Mistakes are found. | `FloorTests.mistakesAreFound`, `PageTests` |").isEmpty)
    }

    @Test func examplesThatNoTestRunsAreFound() throws {
        let page = "Sources/9-Swift/Keychain/Keychain.docc/Keychain.md"
        #expect(
            problems(page, "```swift\nlet a = 1\n```")
                == ["\(page) has an example that no page of Documentation/Use has: let a = 1\n"])
        #expect(try #require(pages.texts[page]).contains("```swift\n"))
    }

    @Test(arguments: ["README.md", "SECURITY.md"]) func longPagesAreFound(page: String) throws {
        let length = try #require(pages.texts[page]).utf8.count
        let limit = page == "README.md" ? 10 << 10 : 12 << 10
        let lines = String(repeating: "\n", count: limit - length)
        #expect(problems(page, lines) == ["\(page) has \(limit + 2) bytes; it may have \(limit)"])
        func words(_ count: Int) -> String { Array(repeating: "word", count: count).joined(separator: " ") }
        // With what is added here, the page may be too long.
        func problemsOfWords(_ text: String) -> [String] { problems(page, text).filter { !$0.contains(" bytes; ") } }
        #expect(
            problemsOfWords("| a | \(words(19)). \(words(20)). \(words(2)) |").first?.contains("cell of 41 words")
                == true)
        #expect(problemsOfWords("| a | \(words(20)). \(words(20)). |").isEmpty)
        #expect(problemsOfWords("- \(words(31)).") == ["\(page) has a sentence of 31 words: \(words(31).prefix(60))"])
        #expect(problemsOfWords("\(words(20))\n\(words(11)).").count == 1)
        #expect(problemsOfWords("\(words(30)). \(words(30)):\n\n- \(words(30)).\n- \(words(30)).").isEmpty)
        #expect(problemsOfWords("```sh\n\(words(60))\n```").isEmpty)
    }
}
