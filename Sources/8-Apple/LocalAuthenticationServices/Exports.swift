// As on Apple's systems, who imports this sees the types that its functions speak of.
@_exported import Foundation
@_exported import KeychainServices
