import Foundation

/// PNG files of 8 by 8 points in one color.
enum Pictures {
    static let red = file(
        "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR42mN4YGiIFTEMLQkAoFlQgdz4NicAAAAASUVORK5CYII=")
    static let green = file(
        "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR42mPQn+eCFTEMLQkApg5EQZX26ZQAAAAASUVORK5CYII=")
    static let blue = file(
        "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR42mOQLDyEFTEMLQkARGhTAUh+GhUAAAAASUVORK5CYII=")

    private static func file(_ text: String) -> Data { Data(base64Encoded: text) ?? Data() }
}
