"""The page in a real browser, from disk; every test checks that it asked for nothing."""

import json
import shutil

import pytest
from shown_page import make_documents, page_of, size

INSTALL = (
    "the page's test needs a browser: `apt-get install chromium chromium-driver` (Debian), or put "
    "chromium and chromedriver on the PATH"
)


@pytest.fixture(scope="session")
def documents():
    return make_documents()


@pytest.fixture(scope="session")
def address(documents, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "index.html"
    path.write_text(page_of(documents), encoding="utf-8")
    return f"file://{path}"


@pytest.fixture(scope="session")
def chromium():
    from selenium import webdriver

    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not browser or not driver:
        pytest.fail(INSTALL)
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(driver)
    session = webdriver.Chrome(options=options, service=service)
    yield session
    session.quit()


@pytest.fixture
def page(chromium, address):
    """The page freshly opened at desktop width; afterwards it must have been silent."""
    chromium.get("about:blank")
    size(chromium, 1280, 900)
    chromium.get_log("performance")
    chromium.get_log("browser")
    chromium.get(address)
    yield chromium
    assert chromium.get_log("browser") == []
    assert chromium.title == "BRIDO: a run and its vote"
    messages = [
        json.loads(entry["message"])["message"] for entry in chromium.get_log("performance")
    ]
    asked = [
        item["params"]["request"]["url"]
        for item in messages
        if item["method"] == "Network.requestWillBeSent"
    ]
    assert any(url.startswith("file://") for url in asked), "the log must have seen the page itself"
    assert [url for url in asked if not url.startswith(("file://", "data:"))] == []
