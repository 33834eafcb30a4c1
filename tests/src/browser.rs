//! Chromium without a window, driven by the DevTools protocol over two pipes: pages at any width, in light and dark.
//!
//! Every call waits for its answer, at most the time limit of test processes. The browser ends with its value.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::process::{TIME_LIMIT, wait_until};

/// Options without which Chromium shows dialogs, or makes requests of its own.
const OPTIONS: [&str; 10] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
];

/// The protocol reads from descriptor 3 and writes to descriptor 4.
const WITH_PIPES: &str = "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null";

/// Names of keys and their codes.
const KEY_CODES: [(&str, u32); 3] = [("Tab", 9), ("Enter", 13), ("Escape", 27)];

/// How a page is displayed.
#[derive(Clone, Copy, Debug)]
pub struct PageView {
    /// Width of the window in CSS pixels.
    pub width: u32,
    /// Height of the window in CSS pixels.
    pub height: u32,
    /// Whether the system's theme is dark.
    pub is_dark: bool,
}

/// A browser with one page.
pub struct Browser {
    child: Child,
    requests: ChildStdin,
    messages: Receiver<Value>,
    last_id: u64,
    session: String,
    errors: Vec<String>,
    _profile: TempDir,
}

impl Browser {
    /// Starts a browser with an empty page.
    ///
    /// # Panics
    ///
    /// If it does not start.
    pub fn start(program: &Path) -> Browser {
        let profile = tempfile::tempdir().expect("a folder");
        let mut command = Command::new("sh");
        command.args(["-c", WITH_PIPES]).arg(program).args(OPTIONS);
        command.arg(format!("--user-data-dir={}", profile.path().display())).arg("about:blank");
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("sh starts");
        let requests = child.stdin.take().expect("a pipe");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, messages) = channel();
        thread::spawn(move || {
            for message in output.split(0).map_while(Result::ok) {
                let message = serde_json::from_slice(&message).expect("the protocol is JSON");
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut browser = Browser {
            child,
            requests,
            messages,
            last_id: 0,
            session: String::new(),
            errors: Vec::new(),
            _profile: profile,
        };
        browser.attach();
        browser
    }

    fn attach(&mut self) {
        let page = self.call("Target.createTarget", json!({ "url": "about:blank" }));
        let target = json!({ "targetId": page["targetId"], "flatten": true });
        let session = self.call("Target.attachToTarget", target);
        self.session = session["sessionId"].as_str().expect("an id").to_owned();
        for domain in ["Page", "Runtime", "Log"] {
            self.call(&format!("{domain}.enable"), json!({}));
        }
        // A page behind another one has no focus: its keys would wait for a frame that is never drawn.
        self.call("Page.bringToFront", json!({}));
        self.call("Emulation.setFocusEmulationEnabled", json!({ "enabled": true }));
    }

    /// Opens a page, and waits until `is_ready`, a script, is true.
    pub fn open(&mut self, url: &str, view: PageView, is_ready: &str) {
        let PageView { width, height, is_dark } = view;
        let metrics =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500 });
        self.call("Emulation.setDeviceMetricsOverride", metrics);
        let theme =
            json!({ "name": "prefers-color-scheme", "value": if is_dark { "dark" } else { "light" } });
        self.call("Emulation.setEmulatedMedia", json!({ "features": [theme] }));
        // A change of the address after `#` alone would not load the page again.
        self.call("Page.navigate", json!({ "url": "about:blank" }));
        self.call("Page.navigate", json!({ "url": url }));
        wait_until(&format!("{url}: {is_ready}"), || {
            self.evaluate(&format!("document.readyState === 'complete' && ({is_ready})")) == true
        });
    }

    /// Returns the value of a script in the page.
    ///
    /// # Panics
    ///
    /// If it throws.
    pub fn evaluate(&mut self, script: &str) -> Value {
        let request = json!({ "expression": script, "awaitPromise": true, "returnByValue": true });
        let mut answer = self.call("Runtime.evaluate", request);
        assert!(answer.get("exceptionDetails").is_none(), "{script}: {answer:#}");
        answer["result"]["value"].take()
    }

    /// Presses and releases a key without a character, such as `Tab` or `Escape`.
    ///
    /// # Panics
    ///
    /// If the key is not one of these.
    pub fn press(&mut self, key: &str) {
        let code = KEY_CODES.iter().find(|(name, _)| *name == key).expect("a known key").1;
        for kind in ["rawKeyDown", "keyUp"] {
            let event = json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code });
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// Taps the middle of the first element of a selector with a finger, after scrolling it into view.
    pub fn tap(&mut self, selector: &str) {
        let middle = format!(
            "(box => [box.x + box.width / 2, box.y + box.height / 2])((node => {{ node.scrollIntoView({{ block: 'center' }}); return \
             node.getBoundingClientRect(); }})(document.querySelector('{selector}')))"
        );
        let place = self.evaluate(&middle);
        self.call("Emulation.setTouchEmulationEnabled", json!({ "enabled": true }));
        let point = json!({ "x": place[0], "y": place[1] });
        self.call("Input.dispatchTouchEvent", json!({ "type": "touchStart", "touchPoints": [point] }));
        self.call("Input.dispatchTouchEvent", json!({ "type": "touchEnd", "touchPoints": [] }));
    }

    /// Writes an image of the whole page, at most this high, as PNG.
    pub fn screenshot(&mut self, path: &Path, max_height: u32) {
        let size = self.evaluate("[innerWidth, document.documentElement.scrollHeight]");
        let height = size[1].as_u64().unwrap_or(0).min(u64::from(max_height));
        let clip = json!({ "x": 0, "y": 0, "width": size[0], "height": height, "scale": 1 });
        let options = json!({ "format": "png", "captureBeyondViewport": true, "clip": clip });
        let answer = self.call("Page.captureScreenshot", options);
        let image = STANDARD.decode(answer["data"].as_str().expect("an image")).expect("base64");
        std::fs::write(path, image).expect("the image is written");
    }

    /// Returns the errors since the last call: exceptions of scripts, and what the page's policy refused.
    pub fn take_errors(&mut self) -> Vec<String> {
        std::mem::take(&mut self.errors)
    }

    fn call(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let mut request = json!({ "id": self.last_id, "method": method, "params": params });
        if !self.session.is_empty() {
            request["sessionId"] = self.session.as_str().into();
        }
        let mut bytes = request.to_string().into_bytes();
        bytes.push(0);
        self.requests.write_all(&bytes).and_then(|()| self.requests.flush()).expect("the browser reads");
        loop {
            let mut message = self.messages.recv_timeout(TIME_LIMIT).expect(method);
            if message["id"] == self.last_id {
                assert!(message.get("error").is_none(), "{method}: {message:#}");
                return message["result"].take();
            }
            self.note_error(&message);
        }
    }

    fn note_error(&mut self, message: &Value) {
        let is_error = match message["method"].as_str() {
            Some("Runtime.exceptionThrown") => true,
            Some("Log.entryAdded") => message["params"]["entry"]["level"] == "error",
            Some("Runtime.consoleAPICalled") => message["params"]["type"] == "error",
            _ => false,
        };
        if is_error {
            self.errors.push(message["params"].to_string());
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
