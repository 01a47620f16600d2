import Foundation
import Synchronization
import Testing

/// A tab of a browser, with cookies of its own, used as a person does: by the keyboard, the mouse and the eyes.
final class Page: Sendable {
    /// How a page is looked at.
    struct Look: Sendable {
        var width = 1_000
        var height = 800
        var isPhone = false
        var isDark = false
        var hasScripts = true

        static let desktop = Look()
        static let phone = Look(width: 390, height: 844, isPhone: true)
    }

    private struct State {
        var loads = 0
        var statuses: [Int] = []
        var complaints: [String] = []
    }

    private let browser: Browser
    private let session: String
    private let state: StateBox

    private final class StateBox: Sendable {
        let value = Mutex(State())
    }

    init(in browser: Browser, _ look: Look = .desktop) async throws {
        self.browser = browser
        let context = try await browser.call("Target.createBrowserContext")["browserContextId"]
        let target = try await browser.call("Target.createTarget", ["url": "about:blank", "browserContextId": context])
        let attached = try await browser.call(
            "Target.attachToTarget", ["targetId": target["targetId"], "flatten": true])
        guard let session = attached["sessionId"].string else { throw Browser.Failure(description: "no session") }
        self.session = session
        let state = StateBox()
        self.state = state
        await browser.listen(to: session) { event in state.value.withLock { Self.note(event, &$0) } }
        for domain in ["Page", "Runtime", "Log", "Network", "DOM", "Accessibility"] {
            try await call("\(domain).enable")
        }
        try await call("Emulation.setScriptExecutionDisabled", ["value": .bool(!look.hasScripts)])
        try await call(
            "Emulation.setEmulatedMedia",
            ["features": [["name": "prefers-color-scheme", "value": .string(look.isDark ? "dark" : "light")]]])
        try await call(
            "Emulation.setDeviceMetricsOverride",
            [
                "width": .number(Double(look.width)), "height": .number(Double(look.height)),
                "deviceScaleFactor": .number(look.isPhone ? 2 : 1), "mobile": .bool(look.isPhone),
            ])
    }

    private static func note(_ event: Browser.Event, _ state: inout State) {
        let said = event.parameters
        switch event.method {
        case "Page.loadEventFired": state.loads += 1
        case "Network.responseReceived" where said["type"].string == "Document":
            state.statuses.append(Int(said["response"]["status"].number ?? 0))
        case "Runtime.exceptionThrown":
            state.complaints.append(said["exceptionDetails"]["text"].string ?? "exception")
        case "Runtime.consoleAPICalled" where ["error", "warning", "assert"].contains(said["type"].string):
            state.complaints.append("console: \(said["args"].array.compactMap(\.["value"].string))")
        case "Log.entryAdded" where ["error", "warning"].contains(said["entry"]["level"].string):
            state.complaints.append(said["entry"]["text"].string ?? "entry")
        case "Network.loadingFailed" where said["canceled"].bool != true:
            state.complaints.append("not loaded: \(said["errorText"].string ?? "")")
        default: break
        }
    }

    @discardableResult
    func call(_ method: String, _ parameters: JSON = [:]) async throws -> JSON {
        try await browser.call(method, parameters, session: session)
    }

    /// What the browser had to say of errors, and of warnings.
    var complaints: [String] { state.value.withLock { $0.complaints } }
    /// The status of the last page.
    var status: Int? { state.value.withLock { $0.statuses.last } }

    // MARK: Going somewhere

    func open(_ url: String) async throws {
        try await loading { try await call("Page.navigate", ["url": .string(url)]) }
    }

    /// The button of the browser.
    func back() async throws {
        let history = try await call("Page.getNavigationHistory")
        let index = Int(history["currentIndex"].number ?? 0)
        guard index > 0 else { throw Browser.Failure(description: "there is nothing to go back to") }
        try await loading {
            try await call("Page.navigateToHistoryEntry", ["entryId": history["entries"].array[index - 1]["id"]])
        }
    }

    /// Does something that leads to another page, and waits for that.
    func loading(_ body: () async throws -> Void) async throws {
        let before = state.value.withLock { $0.loads }
        try await body()
        try await waitUntil("no page is loaded") { state.value.withLock { $0.loads } > before }
    }

    // MARK: Looking

    func evaluate(_ expression: String) async throws -> JSON {
        let answer = try await call(
            "Runtime.evaluate", ["expression": .string(expression), "returnByValue": true, "awaitPromise": true])
        if case .object = answer["exceptionDetails"] {
            throw Browser.Failure(
                description: "\(expression): \(answer["exceptionDetails"]["exception"]["description"])")
        }
        return answer["result"]["value"]
    }

    var path: String {
        get async throws { try await evaluate("location.pathname").string ?? "" }
    }

    /// All that can be read on the page.
    var text: String {
        get async throws { try await evaluate("document.body.innerText").string ?? "" }
    }

    func screenshot() async throws -> Data {
        let answer = try await call("Page.captureScreenshot", ["format": "png"])
        return answer["data"].string.flatMap { Data(base64Encoded: $0) } ?? Data()
    }

    /// What a screen reader gets to know: the role and the name of everything.
    func accessibleNodes() async throws -> [(role: String, name: String)] {
        try await call("Accessibility.getFullAXTree")["nodes"].array
            .filter { $0["ignored"].bool != true }
            .map { ($0["role"]["value"].string ?? "", $0["name"]["value"].string ?? "") }
    }

    // MARK: Doing

    /// Puts something into a field in the place of what is there.
    func type(_ text: String, into field: String) async throws {
        try await click(field)
        _ = try await evaluate("document.querySelector(\(Self.quoted(field))).select()")
        if text.isEmpty {
            try await press("Backspace")
        } else {
            try await call("Input.insertText", ["text": .string(text)])
        }
    }

    func click(_ selector: String) async throws {
        let place = try await evaluate(
            """
            (() => { const e = document.querySelector(\(Self.quoted(selector))); e.scrollIntoView({block: "center"});
            const r = e.getBoundingClientRect(); return {x: r.x + r.width / 2, y: r.y + r.height / 2}; })()
            """)
        for kind in ["mousePressed", "mouseReleased"] {
            try await call(
                "Input.dispatchMouseEvent",
                ["type": .string(kind), "x": place["x"], "y": place["y"], "button": "left", "clickCount": 1])
        }
    }

    func press(_ key: String) async throws {
        let codes = ["Tab": 9, "Enter": 13, "Backspace": 8]
        let code = JSON.number(Double(codes[key] ?? 0))
        try await call(
            "Input.dispatchKeyEvent",
            [
                "type": "keyDown", "key": .string(key), "code": .string(key), "windowsVirtualKeyCode": code,
                "text": .string(key == "Enter" ? "\r" : ""),
            ])
        try await call(
            "Input.dispatchKeyEvent",
            ["type": "keyUp", "key": .string(key), "code": .string(key), "windowsVirtualKeyCode": code])
    }

    private static func quoted(_ text: String) -> String {
        let encoded = try? JSONEncoder().encode([text])
        return encoded.map { String(decoding: $0.dropFirst().dropLast(), as: UTF8.self) } ?? "\"\""
    }
}
