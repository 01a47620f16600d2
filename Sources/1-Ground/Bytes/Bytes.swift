@_exported import PlainBytes
