#!/usr/bin/env python3
"""Writes an export of 1Password (1PUX), after support.1password.com/1pux-format.

    onepassword.py FILE [CHANGE]     CHANGE is `bomb`, `shared`, `stored`, `names`, `missing`, `noData`, `json` or
                                 `version`
"""
import json
import sys
import zipfile

path, change = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""


def item(number, title, details, state="active", fav=0, **overview):
    return {
        "uuid": f"uuid{number}", "favIndex": fav, "createdAt": 1619467769, "updatedAt": 1619467855, "state": state,
        "categoryUuid": "001", "details": details,
        "overview": {"subtitle": "", "title": title, "ps": 100, "pgrng": True, **overview},
    }


def field(title, kind, value):
    return {"title": title, "id": title.lower(), "value": {kind: value}, "guarded": False, "multiline": False,
            "inputTraits": {"keyboard": "default", "correction": "default", "capitalization": "default"}}


KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nbm9uZQ==\n-----END OPENSSH PRIVATE KEY-----\n"
login = {
    "loginFields": [
        {"value": "alice", "id": "", "name": "user", "fieldType": "T", "designation": "username"},
        {"value": "s3cret", "id": "", "name": "pass", "fieldType": "P", "designation": "password"},
        {"value": "blue", "id": "color", "name": "color", "fieldType": "T", "designation": ""},
        {"value": "Sign in", "id": "go", "name": "go", "fieldType": "B"}],
    "notesPlain": "line 1\nline 2",
    "sections": [
        {"title": "Security", "name": "s1", "fields": [
            field("PIN", "concealed", "12345"), field("code", "totp", "otpauth://totp/X:a?secret=JBSWY3DPEHPK3PXP&issuer=X"),
            field("second code", "totp", "otpauth://totp/Y:a?secret=JBSWY3DPEHPK3PXP"),
            field("text", "string", "plain"), field("empty", "string", ""), field("site", "url", "https://u.example"),
            field("mail", "email", {"email_address": "a@example.com", "provider": None}),
            field("born", "date", 1581854400), field("expires on", "monthYear", 203108), field("phone", "phone", "+1 2"),
            field("home", "address", {"street": "Street 1", "city": "Town", "country": "de", "zip": "123", "state": ""}),
            field("kind", "menu", "a choice"), field("card", "creditCardNumber", "4111111111111111"),
            field("brand", "creditCardType", "visa"), field("other", "reference", "uuid2"), field("later", "unheardOf", {"a": 1}),
            field("scan", "file", {"fileName": "../sc\u00e4n.png", "documentId": "doc1", "decryptedSize": 4})]},
        {"title": "More", "name": "s2", "fields": [field("PIN", "concealed", "67890")]}],
    "passwordHistory": [{"value": "newer", "time": 1600000000}, {"value": "older", "time": 1500000000}],
}
items = [
    item(1, "Ex\u00e4mple", login, fav=1, url="https://example.com/", tags=["one", "two"],
         urls=[{"label": "", "url": "https://example.com/"}, {"label": "b", "url": "https://b.example"}]),
    item(2, "Note", {"notesPlain": "only text", "sections": []}),
    item(3, "Generated", {"password": "generated", "loginFields": [], "sections": []}, state="archived"),
    item(4, "Gone", login, state="trashed"),
    item(5, "Key", {"sections": [{"title": "", "fields": [field("key", "sshKey", {
        "privateKey": KEY, "metadata": {"privateKey": KEY, "publicKey": "ssh-ed25519 AAAA", "fingerprint": "f"}})]}]}),
    item(6, "Document", {"documentAttributes": {"fileName": "a.pdf", "documentId": "doc2", "decryptedSize": 300000}}),
    item(7, "Lost", {"loginFields": login["loginFields"], "documentAttributes": {
        "fileName": "b.pdf", "documentId": "doc3", "decryptedSize": 3}}),
    "no item",
    {"item": item(8, "Older form", {"notesPlain": "text"}), "file": {"attrs": {}, "path": "x"}},
]
if change == "shared":
    items += [item(9, "Shared", {"documentAttributes": {"fileName": "a.pdf", "documentId": "doc2"}})] * 2000
data = {"accounts": [{
    "attrs": {"accountName": "Jane", "name": "Jane", "email": "j@example.com", "uuid": "A", "domain": "https://my.1password.com/"},
    "vaults": [{"attrs": {"uuid": "v", "desc": "", "avatar": "", "name": "Personal", "type": "P"}, "items": items}]}]}
kind = zipfile.ZIP_STORED if change == "stored" else zipfile.ZIP_DEFLATED
with zipfile.ZipFile(path, "w", kind) as archive:
    archive.writestr("export.attributes", json.dumps(
        {"version": 9 if change == "version" else 3, "description": "1Password Unencrypted Export", "createdAt": 1628784092}))
    if change != "noData":
        archive.writestr("export.data", "{" if change == "json" else json.dumps(data))
    archive.writestr("files/doc1___../sc\u00e4n.png", b"\x89PNG")
    archive.writestr("files/doc2___a.pdf", bytes(range(250)) * 1200)
    if change == "bomb":
        archive.writestr("files/doc9___b", b"\0" * (600 << 20))
    if change == "names":
        for name in ("../../etc/passwd", "/etc/passwd", "files/", "files/___", "\u0001", "a" * 60000):
            archive.writestr(name, b"x")
