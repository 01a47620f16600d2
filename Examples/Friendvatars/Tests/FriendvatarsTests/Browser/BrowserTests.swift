import Foundation
import FriendvatarsKit
import Testing

/// What people do, in a real browser.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct BrowserTests {
    private func withBrowser(
        avatars: String = "none", _ body: (Browser, ServerUnderTest) async throws -> Void
    ) async throws {
        try await withServer(avatars: avatars) { server in
            let browser = try await Browser(trusting: server.keyPin)
            do {
                try await body(browser, server)
            } catch {
                await browser.close()
                throw error
            }
            await browser.close()
        }
    }

    private func signUp(_ page: Page, _ server: ServerUnderTest, email: String = "ada@example.com") async throws {
        try await page.open(server.address + "/sign-up")
        try await page.type(email, into: "#email")
        try await page.type("Ada Lovelace", into: "#name")
        try await page.type(goodPassword, into: "#password")
        try await page.loading { try await page.click("main form.card button:not([type])") }
    }

    private func addFriend(_ page: Page, _ name: String, _ email: String) async throws {
        try await page.type(name, into: "#name")
        try await page.type(email, into: "#email")
        try await page.loading { try await page.click("form[action='/friends'] button") }
    }

    @Test(arguments: [true, false])
    func wholeVisit(hasScripts: Bool) async throws {
        let stub = try await AvatarStub()
        let zoe = try #require(EmailAddress("zoe@example.com"))
        stub.setPicture(Pictures.red, for: zoe.avatarHash(.sha256))
        try await withBrowser(avatars: stub.address) { browser, server in
            var look = Page.Look.desktop
            look.hasScripts = hasScripts
            let page = try await Page(in: browser, look)

            // Nobody is known yet.
            try await page.open(server.address + "/")
            #expect(try await page.path == "/sign-in")
            try await page.type("ada@example.com", into: "#email")
            try await page.type(goodPassword, into: "#password")
            try await page.loading { try await page.click("main form.card button:not([type])") }
            #expect(page.status == 422)
            #expect(try await page.text.contains("The e-mail address or the password is wrong."))
            #expect(try await page.evaluate("document.querySelector('#email').value").string == "ada@example.com")
            #expect(try await page.evaluate("document.querySelector('#password').value").string == "")

            // What is wrong stands beside the field.
            try await page.open(server.address + "/sign-up")
            try await page.type("ada", into: "#email")
            try await page.type("short", into: "#password")
            try await page.loading { try await page.click("main form.card button:not([type])") }
            for field in ["email", "name", "password"] {
                #expect(try await page.evaluate("document.querySelector('#\(field)').ariaInvalid").string == "true")
                #expect(
                    try await page.evaluate("document.querySelector('#\(field)-note').innerText").string?.isEmpty
                        == false)
            }

            try await signUp(page, server)
            #expect(try await page.path == "/friends")
            #expect(try await page.text.contains("Nobody is on your list yet."))
            try await addFriend(page, "Zoe", "Zoe@Example.com")
            try await addFriend(page, "<b>Eve</b>", "eve@example.com")
            let text = try await page.text
            #expect(text.contains("Zoe") && text.contains("<b>Eve</b>") && text.contains("zoe@example.com"))
            try await expectPictures(page, count: 2)
            // The one that the service has is red.
            #expect(try await color(of: "li:nth-child(2) img", page) == [224, 49, 49])

            try await page.loading { try await page.click("li:nth-child(1) button") }
            #expect(try await !page.text.contains("Eve"))

            try await page.loading { try await page.click("nav button") }
            #expect(try await page.path == "/sign-in")
            #expect(try await page.text.contains("You are signed out."))
            try await page.back()
            #expect(try await page.path == "/sign-in")
            #expect(try await !page.text.contains("Zoe"))

            try await page.open(server.address + "/sign-in")
            try await page.type(" ADA@example.com", into: "#email")
            try await page.type(goodPassword, into: "#password")
            try await page.loading { try await page.press("Enter") }
            #expect(try await page.path == "/friends")
            #expect(try await page.text.contains("Zoe"))
            // A form that was filled in wrongly is answered with a status that the browser notes as an error to load.
            #expect(page.complaints.filter { !$0.contains("status of 422") } == [])
        }
    }

    /// After a sign-out or the deletion of an account, the browser's own memory shows the person nothing of the
    /// account.
    @Test func deletion() async throws {
        try await withBrowser { browser, server in
            let page = try await Page(in: browser)
            try await signUp(page, server)
            try await addFriend(page, "Zoe", "zoe@example.com")
            try await page.open(server.address + "/account")
            try await page.type("not it at all", into: "#password")
            try await page.loading { try await page.click("main form.card button:not([type])") }
            #expect(try await page.text.contains("The password is wrong."))
            try await page.type(goodPassword, into: "#password")
            try await page.loading { try await page.click("main form.card button:not([type])") }
            #expect(try await page.path == "/sign-up")
            #expect(try await page.text.contains("Your account is deleted"))
            for _ in 0..<2 {
                try await page.back()
                #expect(try await !page.text.contains("Zoe"))
                #expect(try await !page.text.contains("Ada"))
            }
            try await page.open(server.address + "/sign-in")
            try await page.type("ada@example.com", into: "#email")
            try await page.type(goodPassword, into: "#password")
            try await page.loading { try await page.press("Enter") }
            #expect(try await page.text.contains("wrong"))
        }
    }

    /// Signing up with the keyboard alone: everything that can be used can be got to, in an order that makes sense, and
    /// is seen.
    @Test func keyboard() async throws {
        try await withBrowser { browser, server in
            let page = try await Page(in: browser)
            try await page.open(server.address + "/sign-up")
            var visited: [String] = []
            for _ in 0..<12 where visited.last != "Sign up" {
                try await page.press("Tab")
                let focus = try await page.evaluate(
                    """
                    (() => { const e = document.activeElement; const s = getComputedStyle(e);
                    return [e.id || e.innerText.trim(), s.outlineStyle]; })()
                    """)
                visited.append(focus.array.first?.string ?? "")
                #expect(focus.array.last?.string != "none", "\(visited.last ?? ""): nothing shows where one is")
                switch visited.last {
                case "email": try await page.call("Input.insertText", ["text": "ada@example.com"])
                case "name": try await page.call("Input.insertText", ["text": "Ada Lovelace"])
                case "password": try await page.call("Input.insertText", ["text": .string(goodPassword)])
                default: break
                }
            }
            #expect(
                visited == [
                    "Skip to the content", "Friendvatars", "email", "name", "password", "Show password", "Sign up",
                ])
            try await page.loading { try await page.press("Enter") }
            #expect(try await page.path == "/friends")
        }
    }

    /// What a screen reader is told.
    @Test func accessibilityTree() async throws {
        try await withBrowser { browser, server in
            let page = try await Page(in: browser)
            try await page.open(server.address + "/sign-up")
            try await page.type("ada", into: "#email")
            try await page.loading { try await page.click("main form.card button:not([type])") }
            var nodes = try await page.accessibleNodes()
            for expected in [
                ("heading", "Sign up"), ("textbox", "E-mail address"), ("textbox", "Name"), ("textbox", "Password"),
                ("button", "Sign up"), ("link", "Skip to the content"), ("alert", ""),
            ] {
                #expect(
                    nodes.contains { $0.role == expected.0 && (expected.1.isEmpty || $0.name == expected.1) },
                    "\(expected)")
            }
            try await signUp(page, server)
            try await addFriend(page, "Zoe", "zoe@example.com")
            for path in ["/friends", "/account", "/about"] {
                try await page.open(server.address + path)
                nodes = try await page.accessibleNodes()
                #expect(nodes.count { $0.role == "main" } == 1)
                #expect(nodes.filter { $0.role == "heading" }.count >= 1)
                // Nothing that can be used, and no picture, is without a name.
                for node in nodes where ["button", "link", "textbox", "image", "img"].contains(node.role) {
                    #expect(!node.name.isEmpty, "\(path): \(node.role)")
                }
                #expect(try await page.evaluate("document.documentElement.lang").string == "en")
                #expect(try await page.evaluate("document.title").string?.contains("Friendvatars") == true)
            }
            try await page.open(server.address + "/friends")
            nodes = try await page.accessibleNodes()
            #expect(nodes.contains { $0.role == "button" && $0.name == "Remove Zoe" })
            #expect(nodes.contains { $0.role == "navigation" && $0.name == "Your account" })
        }
    }

    /// On a phone and in the dark, nothing is cut off, and text can be told from what is behind it.
    @Test func looks() async throws {
        let stub = try await AvatarStub()
        let people = [
            ("Grace Hopper", "grace@example.com", Pictures.blue), ("Alan Turing", "alan@example.com", Pictures.green),
            ("Barbara Liskov", "barbara@example.com", nil),
            ("Edsger W. Dijkstra", "edsger.w.dijkstra@example.com", nil),
        ]
        for (_, email, picture) in people {
            guard let picture, let address = EmailAddress(email) else { continue }
            stub.setPicture(picture, for: address.avatarHash(.sha256))
        }
        try await withBrowser(avatars: stub.address) { browser, server in
            for (name, look) in [
                ("friends-desktop", Page.Look.desktop), ("friends-phone", .phone),
                ("friends-dark", Page.Look(isDark: true)),
                ("friends-phone-dark", Page.Look(width: 390, height: 844, isPhone: true, isDark: true)),
            ] {
                let page = try await Page(in: browser, look)
                try await signUp(page, server, email: "\(name)@example.com")
                for (person, email, _) in people { try await addFriend(page, person, email) }
                try await page.open(server.address + "/friends")
                try await expectPictures(page, count: people.count)
                let width = try await page.evaluate("document.documentElement.scrollWidth").number ?? 0
                #expect(width <= Double(look.width), "\(name) is wider than the window")
                for selector in ["h1", ".email", "label", "button", "a.brand", "footer p"] {
                    let contrast = try await contrast(of: selector, page)
                    // WCAG 2.2, success criterion 1.4.3.
                    #expect(contrast >= 4.5, "\(name), \(selector): \(contrast)")
                }
                let picture = try await page.screenshot()
                #expect(picture.count > 10_000)
                if let folder = ProcessInfo.processInfo.environment["FRIENDVATARS_SCREENSHOTS"] {
                    try picture.write(to: URL(filePath: folder).appending(path: "\(name).png"))
                }
                #expect(page.complaints == [])
            }
        }
    }

    /// How much brighter text is than what is behind it, as WCAG 2.2 defines contrast ratio.
    private func contrast(of selector: String, _ page: Page) async throws -> Double {
        let value = try await page.evaluate(
            """
            (() => {
              const numbers = (c) => c.match(/[\\d.]+/g).map(Number);
              const light = (c) => { const [r, g, b] = c.slice(0, 3).map((v) => { v /= 255;
                return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
                return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
              let e = document.querySelector("\(selector)");
              const text = light(numbers(getComputedStyle(e).color));
              let behind = numbers(getComputedStyle(e).backgroundColor);
              while (behind.length === 4 && behind[3] === 0 && e.parentElement) {
                e = e.parentElement; behind = numbers(getComputedStyle(e).backgroundColor);
              }
              const page = light(behind);
              return (Math.max(text, page) + 0.05) / (Math.min(text, page) + 0.05);
            })()
            """)
        return value.number ?? 0
    }

    /// All pictures are there: the browser knows how large each is.
    private func expectPictures(_ page: Page, count: Int) async throws {
        let widths = try await page.evaluate(
            """
            (async () => { const all = [...document.querySelectorAll("main img")];
            await Promise.all(all.map((e) => e.decode())); return all.map((e) => e.naturalWidth); })()
            """)
        #expect(widths.array.count == count)
        for width in widths.array { #expect(width.number ?? 0 > 0) }
    }

    private func color(of selector: String, _ page: Page) async throws -> [Int] {
        let found = try await page.evaluate(
            """
            (() => { const canvas = document.createElement("canvas").getContext("2d");
            canvas.drawImage(document.querySelector("\(selector)"), 0, 0);
            return [...canvas.getImageData(2, 2, 1, 1).data].slice(0, 3); })()
            """)
        return found.array.compactMap { $0.number.map { Int($0) } }
    }
}
