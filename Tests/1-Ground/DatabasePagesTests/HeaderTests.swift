import DatabasePages
import Testing

@Suite struct HeaderTests {
    @Test func bytes() throws {
        let geometry = try #require(PageGeometry(pageSize: 4096))
        let database = try #require(DatabaseID(0..<10))
        let header = DatabaseHeader(geometry: geometry, database: database)
        #expect(header.bytes == Array("KCDB1".utf8) + [12] + Array(0..<10))
        #expect(header.bytes.withUnsafeBytes { DatabaseHeader($0) } == header)
        #expect(database.description == "00010203040506070809")
    }

    @Test func refusedBytes() throws {
        for bytes in [DatabaseHeader.plainMagic, [], Array("KCDB1".utf8), Array("KCDB1".utf8) + [8] + Array(0..<10)] {
            #expect(bytes.withUnsafeBytes { DatabaseHeader($0) } == nil)
        }
    }
}
