"""Firefox on a page of a site that asks for a certificate.

    certificate_peer.py PROFILE ADDRESS LABEL

Firefox has loaded the module in the profile. When it knows the certificate of this label, it opens the page, whose text
is printed.
"""
import os, subprocess, sys
from firefox_peer import Marionette, free_port

CERTIFICATES = """
    const [done] = arguments
    const database = Cc["@mozilla.org/security/x509certdb;1"].getService(Ci.nsIX509CertDB)
    Promise.resolve(database.asyncGetCerts?.() ?? database.getCerts()).then(
        (certificates) => done(certificates.filter((one) => one.tokenName == "keychain").map((one) => one.displayName)),
        (error) => done(["error: " + error]))
    """


def main(profile, address, label):
    port = free_port()
    with open(profile + "/user.js", "w") as file:
        file.write(f'user_pref("marionette.port", {port});\n')
        file.write('user_pref("security.default_personal_cert", "Select Automatically");\n')
        for name in ["datareporting.policy.dataSubmissionEnabled", "app.normandy.enabled"]:
            file.write(f'user_pref("{name}", false);\n')
    with open(os.environ["HOME"] + "/firefox.log", "w") as log:
        firefox = subprocess.Popen(
            ["firefox-esr", "--headless", "--no-remote", "--marionette", "--remote-allow-system-access", "--profile",
             profile, "about:blank"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        driver = Marionette(port)
        driver.until(lambda: label in driver.inside(CERTIFICATES))
        driver.ask("WebDriver:Navigate", {"url": address})
        print(driver.script("return document.body.textContent"), end="")
    finally:
        firefox.kill()
        firefox.wait()


if __name__ == "__main__": main(*sys.argv[1:])
