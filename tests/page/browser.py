# What the page's tests need of a browser: chromium without a profile and without a network, the page in a window of a
# given width and scheme, and what is asked of it in JavaScript.
import json
import os
import tempfile
import time

import selenium.webdriver as webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--disable-dev-shm-usage", "--hide-scrollbars", "--force-device-scale-factor=1",
         "--host-resolver-rules=MAP * ~NOTFOUND"]


class Browser:
    def __init__(self):
        self.profile = tempfile.TemporaryDirectory(prefix="lanewise-page-")
        options = webdriver.ChromeOptions()
        for flag in FLAGS + ["--user-data-dir=" + self.profile.name]:
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        self.driver.set_script_timeout(60)

    def close(self):
        self.driver.quit()
        self.profile.cleanup()

    def show(self, path, width, scheme, height=900):
        """Opens the page anew; the window is of exactly this width."""
        command = self.driver.execute_cdp_cmd
        command("Emulation.setDeviceMetricsOverride",
                {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        command("Emulation.setEmulatedMedia",
                {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        self.driver.get("file://" + os.path.abspath(path))
        assert self.js("return window.innerWidth") == width
        assert self.js("return document.documentElement.dataset.theme") == scheme

    def js(self, script, *args):
        return self.driver.execute_script(script, *args)

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def press(self, *keys):
        webdriver.ActionChains(self.driver).send_keys(*keys).perform()

    def choose(self, selector, index):
        """What choosing an option with the keyboard or the mouse does."""
        self.js("const s = document.querySelector(arguments[0]); s.selectedIndex = arguments[1];"
                "s.dispatchEvent(new Event('change'))", selector, index)

    def shot(self, path):
        """The whole page, however long, as a PNG."""
        size = self.driver.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
        png = self.driver.execute_cdp_cmd("Page.captureScreenshot", {
            "captureBeyondViewport": True,
            "clip": {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 16000), "scale": 1}})
        import base64
        with open(path, "wb") as out:
            out.write(base64.b64decode(png["data"]))

    def complaints(self):
        """Errors of scripts, and what the page's policy forbade."""
        return [e["message"] for e in self.driver.get_log("browser") if e["level"] == "SEVERE"]

    def requests(self):
        """Addresses that were asked for, the page's own file left out."""
        seen = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] in ("Network.requestWillBeSent", "Network.webSocketCreated"):
                url = message["params"].get("request", message["params"])["url"]
                if not url.startswith(("file:", "data:", "chrome:")):  # chrome: the browser's own first tab
                    seen.append(url)
        return seen
