/// Templates and static files, which are part of the program: nothing is read from a folder that could be another one.
enum EmbeddedFiles {
    /// Templates by name.
    static let templates: [String: String] = [
        "about": text(PackageResources.about_mustache), "account": text(PackageResources.account_mustache),
        "error": text(PackageResources.error_mustache), "field": text(PackageResources.field_mustache),
        "form": text(PackageResources.form_mustache), "friends": text(PackageResources.friends_mustache),
        "layout": text(PackageResources.layout_mustache), "sign-in": text(PackageResources.sign_in_mustache),
        "sign-up": text(PackageResources.sign_up_mustache),
    ]

    /// A file that pages load.
    struct Static: Sendable {
        let type: String
        let bytes: [UInt8]
    }

    /// Static files by name.
    static let statics: [String: Static] = [
        "app.js": Static(type: "text/javascript; charset=utf-8", bytes: PackageResources.app_js),
        "icon.svg": Static(type: "image/svg+xml", bytes: PackageResources.icon_svg),
        "style.css": Static(type: "text/css; charset=utf-8", bytes: PackageResources.style_css),
    ]

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
