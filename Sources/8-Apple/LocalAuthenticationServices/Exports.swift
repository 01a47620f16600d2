// As on Apple's systems, a program that imports this module also sees the types that its functions use.
@_exported import Foundation
@_exported import KeychainServices
