// For main.swift, which imports only Foundation.
@_exported import Security
