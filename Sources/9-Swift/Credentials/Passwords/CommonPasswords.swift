import Foundation

/// Passwords that are tried first.
public struct CommonPasswords: Sendable {
    private let words: Set<String>

    /// Those of a list, whatever their case.
    public init(_ words: some Sequence<String>) {
        self.words = Set(words.lazy.map { $0.lowercased() })
    }

    /// Those of a file of UTF-8 with one on each line, such as a list of passwords that have leaked.
    ///
    /// - Throws: ``CredentialsError/Code/file``.
    public init(contentsOf file: URL) throws {
        let text: String
        do {
            text = try String(contentsOf: file, encoding: .utf8)
        } catch {
            throw CredentialsError(
                .file, message: "the list of common passwords at \(file.path) cannot be read as UTF-8; check the file")
        }
        self.init(text.split(whereSeparator: \.isNewline).map(String.init))
    }

    /// How many there are.
    public var count: Int { words.count }

    /// Whether a password is one of them, in whatever case, or one of them with up to six digits or signs before or
    /// after it.
    public func contains(_ password: String) -> Bool {
        let text = password.lowercased()
        if words.contains(text) { return true }
        let core = text.drop { !$0.isLetter }.reversed().drop { !$0.isLetter }.reversed()
        return text.count - core.count <= 6 && core.count >= 3 && words.contains(String(core))
    }

    /// The heads of the lists that are published after each large leak: enough against those who try a few passwords at
    /// each of many accounts. A longer list is better.
    public static let bundled = CommonPasswords(
        """
        password passw0rd p@ssword p@ssw0rd pa55word password1 password12 password123 passwort motdepasse contrasena contraseña senha
        parola wachtwoord heslo haslo salasana losenord lösenord passord adgangskode pass passphrase letmein welcome welcome1
        admin administrator root toor guest user test tester testing demo default changeme changeit secret topsecret mysecret access
        login logon signin master manager system server network internet computer laptop windows linux ubuntu debian google facebook
        twitter instagram whatsapp youtube amazon apple samsung microsoft office gmail hotmail yahoo linkedin github spotify netflix
        pokemon minecraft roblox fortnite playstation xbox nintendo starwars startrek matrix superman batman spiderman ironman
        iloveyou ilove loveyou lovely love lover love123 sweetheart honey baby babygirl babyboy princess prince queen king angel
        angels heaven jesus jesuschrist god godisgood blessed faith church christ mother father mommy daddy family brother sister
        sunshine moonlight starlight rainbow flower flowers butterfly summer winter spring autumn monday friday sunday january
        february march april june july august september october november december morning evening tonight forever always
        qwerty qwertyuiop qwerty1 qwerty12 qwerty123 qwertz azerty asdfgh asdfghjkl asdf1234 zxcvbn zxcvbnm 1q2w3e 1q2w3e4r 1q2w3e4r5t
        q1w2e3 q1w2e3r4 qazwsx qazwsxedc 1qaz2wsx zaq12wsx zaq1zaq1 wsxedc abc123 abcd1234 a1b2c3 a1b2c3d4 abcdef aa123456 abc12345
        123456 1234567 12345678 123456789 1234567890 0123456789 123123 123123123 123321 12341234 111111 11111111 000000 00000000
        112233 11223344 121212 131313 159753 147258 147258369 159357 222222 232323 252525 333333 456789 555555 654321 666666
        696969 741852963 777777 7777777 789456 789456123 87654321 888888 88888888 987654 987654321 999999 9876543210 102030 101010
        dragon monkey tiger lion eagle falcon hawk wolf bear panther cobra python shark dolphin turtle horse pony kitty kitten
        puppy doggie mustang ferrari porsche mercedes corvette camaro harley yamaha honda toyota nissan jaguar bmw audi
        football baseball basketball soccer hockey tennis golf golfer boxing cricket rugby arsenal chelsea liverpool barcelona
        realmadrid juventus bayern manchester united everton celtic rangers yankees cowboys steelers lakers packers raiders
        michael jordan michelle jessica jennifer ashley amanda daniel andrew joshua matthew thomas robert charlie george nicole
        hannah samantha elizabeth maria marie martin anthony alexander alexandra andrea thunder shadow hunter killer ranger
        soldier sniper warrior knight wizard magic mercury phoenix silver golden diamond crystal orange banana cherry apple123
        cookie chocolate coffee pepper ginger cheese chicken pizza whisky vodka guitar music rockstar metallica nirvana slipknot
        blink182 eminem freedom liberty america canada england ireland scotland london paris berlin madrid roma italia france
        germany deutschland espana brasil mexico argentina russia china india hello hello123 hellohello goodbye thankyou please
        whatever nothing something anything someone nobody trustno1 trustme iamgod ihateyou fuckyou fuckoff asshole bitch bullshit
        hottie sexy sexysexy lovers playboy cowboy cheerleader buster maggie bailey rocky lucky max jasper tigger snoopy mickey
        donald garfield pikachu naruto goku pass123 pass1234 admin123 admin1234 root123 user123 test123 test1234 guest123
        temp temp123 temporary newpassword oldpassword mypassword yourpassword nopassword 1password thepassword password!
        correcthorsebatterystaple correct-horse-battery-staple
        """.split(whereSeparator: \.isWhitespace).map(String.init))
}
