import CommandKit
import FoundationEssentials
import StatusCodes

/// A picture with QR codes, as sites and authenticators show them. `zbarimg` of ZBar reads it.
enum CodePicture {
    /// More than any picture of codes has.
    private static let longest = 1 << 20

    /// Returns the text of the codes, a line for each; nil if the bytes are no picture.
    ///
    /// - Parameter path: Where the bytes were read. A picture on standard input is refused: ImageMagick, which reads
    ///   pictures for ZBar, would write it to a file for itself.
    static func text(of bytes: Data, at path: String) throws -> Data? {
        let kinds: [(name: String, start: [UInt8])] = [
            ("PNG", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), ("JPEG", [0xFF, 0xD8, 0xFF]),
        ]
        guard let kind = kinds.first(where: { bytes.starts(with: $0.start) })?.name else { return nil }
        guard path != "-" else {
            throw Failure(status: errSecParam, "a picture is read from a file: give its name")
        }
        guard ToolProcess.exists("zbarimg") else {
            throw Failure(
                status: errSecUnimplemented, "a picture needs zbarimg, which is not here: install it (zbar-tools)")
        }
        // With the kind, the name cannot mean anything else to ImageMagick.
        let name = "\(kind):\(path.hasPrefix("/") ? "" : "./")\(path)"
        guard let text = ToolProcess.run(["zbarimg", "--quiet", "--raw", name], limit: longest), !text.isEmpty else {
            throw Failure(
                status: errSecDecode,
                "there is no QR code in the picture that can be read: make a larger or sharper one")
        }
        return text
    }
}
