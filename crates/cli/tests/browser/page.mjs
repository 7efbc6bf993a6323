// What the specs share: keymark, its archive, a browser, and what a page may not do.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HtmlValidate } from "html-validate";
import { chromium } from "playwright-core";

const PROGRAM = process.env.KEYMARK;
const CHROMIUM = process.env.CHROMIUM || "/usr/bin/chromium";
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** A keymark with files of its own, and a browser. */
export class Place {
  static async make() {
    assert.ok(PROGRAM, "KEYMARK names the program");
    const place = new Place();
    place.directory = mkdtempSync(join(tmpdir(), "keymark-browser-"));
    place.env = { ...process.env, KEYMARK_ARCHIVE: place.path("runs.sqlite3"), PCSCLITE_CSOCK_NAME: "/nonexistent", COLUMNS: "100" };
    // Chromium's own sandbox does not start as root.
    const args = process.getuid() === 0 ? ["--no-sandbox"] : [];
    place.browser = await chromium.launch({ executablePath: CHROMIUM, args });
    return place;
  }

  path(name) { return join(this.directory, name); }

  keymark(...words) {
    return execFileSync(PROGRAM, words, { env: this.env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  }

  /** Takes in a record, changed before. */
  import(record) {
    const file = this.path("record.json");
    writeFileSync(file, JSON.stringify(record));
    this.keymark("import", file);
    return record.id;
  }

  /** A short run of this machine, as keymark exports it. */
  measured() {
    this.keymark("bench", "--algorithm", "ed25519,rsa2048,nistp256", "--operation", "sign", "--stack", "raw",
      "--device", "software", "--samples", "60", "--seed", "1", "--time", "20s");
    return JSON.parse(this.keymark("export", "last", "--format", "record"));
  }

  async page(options = {}) {
    const context = await this.browser.newContext({ viewport: { width: 1200, height: 800 }, ...options });
    return new Watched(await context.newPage());
  }

  async end() {
    await this.browser.close();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** A page whose complaints and requests are kept. */
class Watched {
  constructor(page) {
    this.page = page;
    this.complaints = [];
    this.requests = [];
    page.on("console", message => { if (["error", "warning"].includes(message.type())) this.complaints.push(message.text()); });
    page.on("pageerror", error => this.complaints.push(String(error)));
    page.on("request", request => this.requests.push(request.url()));
  }

  async open(address) {
    await this.page.goto(address);
    return this.page;
  }

  /** Nothing went wrong, and nothing was asked of anybody but `own`. */
  assertQuiet(own) {
    assert.deepEqual(this.complaints, []);
    const others = this.requests.filter(url => !own.some(begin => url.startsWith(begin)));
    assert.deepEqual(others, []);
  }

  /** axe-core finds nothing, with every rule that it has. */
  async assertAccessible() {
    // The page's policy lets no script in, and the browser's own ones are not asked.
    const outside = await this.page.evaluate(AXE + ";axe.run(document, { resultTypes: ['violations'] })");
    const found = outside.violations.map(({ id, nodes }) => `${id}: ${nodes.map(node => node.html.slice(0, 120)).join(" | ")}`);
    assert.deepEqual(found, []);
    assert.ok(outside.passes.length > 10, `${outside.passes.length} rules had something to look at`);
  }
}

const validator = new HtmlValidate({
  extends: ["html-validate:standard", "html-validate:a11y"],
  // Matters of taste, and rules about files that are edited by hand.
  rules: { "long-title": "off", "no-inline-style": "error", "no-trailing-whitespace": "off", "svg-focusable": "off" },
});

/** html-validate finds nothing in a file's text. */
export async function assertValid(text) {
  const report = await validator.validateString(text);
  const found = report.results.flatMap(result => result.messages).map(message => `${message.ruleId}: ${message.message} (${message.line}:${message.column})`);
  assert.deepEqual(found.slice(0, 20), []);
}
