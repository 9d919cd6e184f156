"""Signs in on three hosts in Firefox, and out on one of them.

  firefox.py FIREFOX FOLDER PORT USER SUBJECT MAIN FIRST SECOND

Firefox is driven by Marionette, its own protocol, because Debian has no driver for it: each message is a list, written
as JSON after its length. FOLDER becomes the profile, PORT is for Marionette; the last three are origins.
"""

import json
import socket
import subprocess
import sys
import time
from pathlib import Path

firefox, folder, port, user, subject, main, first, second = sys.argv[1:]
DEADLINE = 60


class Browser:
    def __init__(self, connection):
        connection.settimeout(DEADLINE)
        self.connection, self.stream, self.count = connection, connection.makefile("rb"), 0
        self.receive()
        self.command("WebDriver:NewSession", capabilities={})

    def receive(self):
        length = b""
        while (byte := self.stream.read(1)) != b":":
            if not byte:
                sys.exit("firefox.py: Firefox closed its connection")
            length += byte
        return json.loads(self.stream.read(int(length)))

    def command(self, name, **parameters):
        self.count += 1
        message = json.dumps([0, self.count, name, parameters]).encode()
        self.connection.sendall(b"%d:%s" % (len(message), message))
        _, _, error, result = self.receive()
        if error:
            raise RuntimeError(f"{name}: {error['message']}")
        return result

    def open(self, address):
        self.command("WebDriver:Navigate", url=address)

    def wait(self, what, look):
        """Waits until a look at the page is right; a page that is just being left is looked at again."""
        end = time.monotonic() + DEADLINE
        while time.monotonic() < end:
            try:
                if look(self.address(), self.script("return document.body.innerText")):
                    return
            except RuntimeError:
                pass
            time.sleep(0.1)
        sys.exit(f"firefox.py: waited in vain for {what} at {self.address()}")

    def address(self):
        return self.command("WebDriver:GetCurrentURL")["value"]

    def script(self, text):
        return self.command("WebDriver:ExecuteScript", script=text, args=[])["value"]

    def click(self, selector):
        self.wait(selector, lambda *_: self.script(f"return document.querySelector({json.dumps(selector)}) !== null"))
        element = self.command("WebDriver:FindElement", using="css selector", value=selector)["value"]
        self.command("WebDriver:ElementClick", id=next(iter(element.values())))


def connect(process):
    end = time.monotonic() + DEADLINE
    while time.monotonic() < end and process.poll() is None:
        try:
            return socket.create_connection(("127.0.0.1", int(port)), 5)
        except OSError:
            time.sleep(0.1)
    sys.exit("firefox.py: Firefox did not start")


Path(folder, "user.js").write_text(f'user_pref("marionette.port", {port});\n')
process = subprocess.Popen(
    [firefox, "--headless", "--marionette", "--no-remote", "--profile", folder], stdout=subprocess.DEVNULL,
    stderr=subprocess.DEVNULL)
try:
    browser = Browser(connect(process))
    browser.open(first + "/page?a=b")
    browser.click("a[href*='/.auth/authorize']")
    browser.click("#user-" + user)
    browser.click("#continue")
    browser.wait("the first host", lambda address, text: address == first + "/page?a=b" and subject in text)
    for origin in [second, main]:
        browser.open(origin + "/")
        browser.wait("another host", lambda address, text: address == origin + "/" and subject in text)
    browser.open(second + "/.auth/sign-out")
    browser.click("form[action*='sign-out'] button")
    browser.wait("the end", lambda _, text: "signed out" in text)
    for origin in [first, second, main]:
        browser.open(origin + "/")
        browser.wait("the sign-in page", lambda address, _: address.startswith(main + "/.auth/sign-in?"))
finally:
    process.terminate()
    process.wait(DEADLINE)
