// The report as a file, in a real browser.

import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { Place, assertValid } from "./page.mjs";

let place, record, file, address;

before(async () => {
  place = await Place.make();
  record = place.measured();
  file = place.path("report.html");
  place.keymark("export", "last", "-o", file);
  address = String(pathToFileURL(file));
});
after(() => place.end());

const column = (page, number) => page.locator(`table[data-table="2"] tbody tr:visible td:nth-child(${number}), table[data-table="2"] tbody tr:visible th:nth-child(${number})`).allTextContents();
const heads = page => page.locator('table[data-table="2"] thead th').allTextContents();

async function opened(hash = "", options = {}) {
  const watched = await place.page(options);
  const page = await watched.open(address + hash);
  // What is folded is what most of these tests are about.
  const folded = page.locator("details:not([open]) > summary");
  while (await folded.count()) await folded.first().click();
  return { watched, page };
}

test("the answer is on top, and every case in the table", async () => {
  const { watched, page } = await opened();
  assert.match(await page.locator("h1").textContent(), /^Private keys on .*, \d+ cores?$/);
  assert.match(await page.locator(".run").textContent(), new RegExp(record.id));
  assert.ok(await page.locator(".answer p").count() >= 1);
  assert.equal(await page.locator('table[data-table="2"] tbody tr').count(), record.cases.length);
  watched.assertQuiet([address]);
});

test("without JavaScript all of it can be read", async () => {
  const { page } = await opened("", { javaScriptEnabled: false });
  assert.ok(await page.locator(".answer p:visible").count() >= 1);
  assert.equal(await page.locator('table[data-table="2"] tbody tr:visible').count(), record.cases.length);
  assert.ok(await page.locator("figure svg:visible").count() >= 1);
  assert.equal(await page.locator("#tools:visible").count(), 0);
  assert.match(await page.locator("pre").textContent(), /^keymark bench .*--seed 1$/);
});

test("a heading sorts by its numbers, up and down, and the keyboard does it, too", async () => {
  const { watched, page } = await opened();
  const names = await heads(page);
  const median = names.indexOf("median") + 1;
  const times = async () => {
    const units = { s: 1, ms: 1e-3, "µs": 1e-6, ns: 1e-9 };
    return (await column(page, median)).map(text => { const [number, unit] = text.split(" "); return number * units[unit]; });
  };
  const rising = [...await times()].sort((a, b) => a - b);
  const head = page.locator('table[data-table="2"] thead th').nth(median - 1);
  await head.getByRole("button").click();
  assert.deepEqual(await times(), rising);
  assert.equal(await head.getAttribute("aria-sort"), "ascending");
  await head.getByRole("button").press("Enter");
  assert.deepEqual(await times(), [...rising].reverse());
  assert.equal(await head.getAttribute("aria-sort"), "descending");
  await page.keyboard.press("Space");
  assert.equal(await head.getAttribute("aria-sort"), null);
  watched.assertQuiet([address]);
});

test("the filter leaves the rows with all words", async () => {
  const { page } = await opened();
  await page.getByLabel("Filter").fill("rsa2048 sign");
  assert.ok((await column(page, 2)).every(text => text === "rsa2048"));
  assert.match(await page.locator("#shown").textContent(), /^\d+ of \d+ rows$/);
  await page.getByLabel("Filter").fill("no such thing");
  assert.equal(await page.locator("table[data-table] tbody tr:visible").count(), 0);
});

test("what is folded unfolds for who filters, and stays folded on paper", async () => {
  const watched = await place.page();
  const page = await watched.open(address);
  const rows = page.locator("details.every tbody tr:visible");
  assert.equal(await rows.count(), 0);
  await page.getByLabel("Filter").fill("ed25519");
  assert.equal(await rows.count(), 1);
  const marks = await page.locator("figure .wide g[data-case]").evaluateAll(all => all.map(mark => [mark.dataset.case, mark.classList.contains("out")]));
  assert.ok(marks.length > 2 && marks.every(([name, out]) => out !== name.includes("ed25519")), `${marks}`);
  const printed = await watched.open(address);
  await printed.emulateMedia({ media: "print" });
  assert.equal(await printed.locator("details.every tbody tr:visible").count(), 0);
  const pages = (await printed.pdf({ format: "A4" })).toString("latin1").match(/\/Type\s*\/Page\b/g);
  assert.ok(pages.length <= 4, `${pages.length} pages`);
  watched.assertQuiet([address]);
});

test("text of pictures can be read in a narrow window", async () => {
  const { page } = await opened("", { viewport: { width: 360, height: 800 } });
  const heights = await page.locator("figure svg:visible text").evaluateAll(all => all.map(text => {
    const scale = text.ownerSVGElement.getBoundingClientRect().width / text.ownerSVGElement.viewBox.baseVal.width;
    return Number(text.getAttribute("font-size")) * scale;
  }));
  assert.ok(heights.length > 10 && heights.every(size => size >= 9), `${heights}`);
  assert.equal(await page.locator("th:visible", { hasText: "p99" }).count(), 0);
});

test("units are switched and switched back", async () => {
  const { page } = await opened();
  const median = (await heads(page)).indexOf("median") + 1;
  const before = await column(page, median);
  await page.getByLabel("Unit").selectOption("µs");
  assert.ok((await column(page, median)).every(text => text.endsWith(" µs")));
  await page.getByLabel("Unit").selectOption("");
  assert.deepEqual(await column(page, median), before);
});

test("selected cases are compared by the figure that is chosen", async () => {
  const { watched, page } = await opened();
  const compared = page.getByRole("region", { name: "Selected cases" });
  assert.equal(await compared.isVisible(), false);
  await page.getByRole("checkbox", { name: /^compare ed25519/ }).check();
  await page.getByRole("checkbox", { name: /^compare rsa2048/ }).check();
  const rows = page.locator("#compared-table tbody tr");
  assert.equal(await rows.count(), 2);
  assert.equal(await rows.nth(0).locator("td").nth(1).textContent(), "×1.00");
  const factor = Number((await rows.nth(1).locator("td").nth(1).textContent()).slice(1));
  assert.ok(factor > 1, `${factor}`);
  assert.match(await rows.nth(0).getByRole("img").getAttribute("aria-label"), /^ed25519 sign/);
  await page.getByLabel("Compare by").selectOption("median");
  assert.match(await page.locator("#compared-caption").textContent(), /^By median/);
  await watched.assertAccessible();
  await page.getByRole("button", { name: "Clear selection" }).click();
  assert.equal(await rows.count(), 0);
  watched.assertQuiet([address]);
});

test("the selection is in the address and is taken from there", async () => {
  const { page } = await opened();
  await page.getByLabel("Filter").fill("sign");
  await page.getByLabel("Unit").selectOption("ms");
  await page.getByLabel("Compare by").selectOption("median");
  await page.getByRole("button", { name: "algorithm" }).first().click();
  await page.getByRole("checkbox", { name: /^compare/ }).first().check();
  const url = page.url();
  const state = page => page.evaluate(() => [document.getElementById("filter").value, document.getElementById("unit").value,
    document.querySelector("table[data-table='0']").innerText, document.getElementById("compared-table").innerText]);
  const again = await opened(url.slice(address.length));
  assert.deepEqual(await state(again.page), await state(page));
  again.watched.assertQuiet([address]);
  // What nobody chose is ignored.
  const wrong = await opened("#unit=parsecs&by=__proto__&sort=9.9.up&sort=x&cases=7.7,a,0.999&rows=%3Cimg%20src%3Dx%3E");
  assert.equal(await wrong.page.locator("#compared").isVisible(), false);
  wrong.watched.assertQuiet([address]);
});

test("a figure tells its exact value to mouse and keyboard", async () => {
  const { watched, page } = await opened();
  const tip = page.getByRole("tooltip", { includeHidden: true });
  assert.equal(await tip.isVisible(), false);
  const mean = (await heads(page)).indexOf("mean (95 % interval)");
  await page.locator('table[data-table="2"] tbody tr').first().locator("td, th").nth(mean).hover();
  assert.match(await tip.textContent(), /mean.*: \d\S* s \(\d\S* to \d\S*, .*\)\n.*, measured$/s);
  await page.mouse.move(0, 0);
  await page.getByRole("checkbox", { name: /^compare/ }).first().focus();
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Tab");
  assert.equal(await tip.isVisible(), true);
  assert.match(await tip.textContent(), /median: /);
  await page.keyboard.press("Escape");
  assert.equal(await tip.isVisible(), false);
  const mark = page.locator("svg:visible g[data-mark]").first();
  await mark.hover({ force: true });
  assert.ok((await tip.textContent()).length > 10);
  watched.assertQuiet([address]);
});

test("the data are handed over as they are in the page", async () => {
  const { watched, page } = await opened();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: /^Download/ }).click()]);
  assert.equal(download.suggestedFilename(), `keymark-${record.id}.json`);
  const held = JSON.parse(readFileSync(await download.path(), "utf8"));
  assert.match(held.title, /^Private keys on /);
  assert.equal(held.sections[0].blocks[0].rows.length, record.cases.length);
  watched.assertQuiet([address, "blob:"]);
});

for (const colorScheme of ["light", "dark"]) {
  test(`axe-core finds nothing in the ${colorScheme} theme, and every picture has a name`, async () => {
    const { watched, page } = await opened("", { colorScheme });
    await watched.assertAccessible();
    const pictures = page.locator("figure").getByRole("img");
    assert.ok(await pictures.count() >= 1);
    for (const picture of await pictures.all()) {
      const names = await picture.evaluate(svg => svg.getAttribute("aria-labelledby").split(" ").map(id => document.getElementById(id)?.textContent));
      assert.ok(names.every(name => name && name.length > 5), `${names}`);
    }
    const ground = await page.locator("figure svg > rect").first().evaluate(rect => getComputedStyle(rect).fill);
    assert.equal(ground, colorScheme === "dark" ? "rgb(20, 24, 29)" : "rgb(255, 255, 255)");
  });
}

test("on paper there are no tools, and light pictures", async () => {
  const { page } = await opened("", { colorScheme: "dark" });
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  assert.equal(await page.locator("#tools").isVisible(), false);
  assert.equal(await page.locator("figure svg > rect").first().evaluate(rect => getComputedStyle(rect).fill), "rgb(255, 255, 255)");
  // Or the heads that chromium repeats on the next page are empty.
  assert.equal(await page.locator("th button").first().evaluate(button => getComputedStyle(button).display), "contents");
  const paper = await page.pdf();
  assert.ok(paper.length > 10_000);
});

test("nothing is wider than a narrow window but what scrolls by itself", async () => {
  const { page } = await opened("", { viewport: { width: 390, height: 800 } });
  const [wide, room] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(wide <= room, `${wide} > ${room}`);
});

test("html-validate finds nothing", () => assertValid(readFileSync(file, "utf8")));

test("hostile records are harmless", async () => {
  const markup = `</script><script>alert(1)</script><img src="http://evil.invalid/x" onerror="alert(1)">"'&\u202e`;
  const hostile = structuredClone(record);
  hostile.id = "20260101-000000-hostile";
  hostile.environment.cpu_model = markup;
  hostile.environment.versions = { [markup]: markup };
  hostile.environment.command = ["bench", markup];
  for (const cases of [hostile.cases.map(({ case: own }) => own), hostile.plan.cases]) cases.forEach(own => { own.device = markup; });
  hostile.stores.forEach(store => { store.device = markup; store.product = markup; });
  hostile.cases[0].blocks = [];
  hostile.cases[0].ending = { stopped: "failed", reason: markup };
  // One sample, absurdly long; and one of no time at all.
  const sample = (start, end) => [0, start, start, end, "done", null, null];
  hostile.cases[1].blocks = [{ round: 0, samples: [sample(0, 2 ** 52)] }];
  hostile.cases[2].blocks = [{ round: 0, samples: [sample(5, 5)] }];
  place.import(hostile);
  const file = place.path("hostile.html");
  place.keymark("export", hostile.id, "-o", file);
  const watched = await place.page();
  const own = String(pathToFileURL(file));
  let dialogs = 0;
  watched.page.on("dialog", dialog => { dialogs += 1; dialog.dismiss(); });
  const page = await watched.open(`${own}#cases=2.0,2.1,2.2`);
  assert.equal(await page.locator("img").count(), 0);
  assert.equal(await page.locator("#compared-table tbody tr").count(), 3);
  assert.equal(dialogs, 0);
  watched.assertQuiet([own]);
  await watched.assertAccessible();
  await assertValid(readFileSync(file, "utf8"));
});

test("runs of nothing and of failures only are pages that say so", async () => {
  for (const [name, cases] of [["empty", 0], ["failures", 3]]) {
    const run = structuredClone(record);
    run.id = `20260102-000000-${name}`;
    run.cases = run.cases.slice(0, cases);
    run.plan.cases = run.plan.cases.slice(0, cases);
    run.cases.forEach(held => { held.blocks = []; held.ending = { stopped: "failed", reason: "the card is gone" }; });
    place.import(run);
    const file = place.path(`${name}.html`);
    place.keymark("export", run.id, "-o", file);
    const watched = await place.page();
    const page = await watched.open(String(pathToFileURL(file)));
    assert.match(await page.locator(".answer").textContent(), /no case|no figure/);
    assert.equal(await page.locator("figure").count(), 0);
    watched.assertQuiet([String(pathToFileURL(file))]);
    await watched.assertAccessible();
    await assertValid(readFileSync(file, "utf8"));
  }
});

test("more cases than anybody reads are a page that answers at once", async () => {
  const many = structuredClone(record);
  many.id = "20260103-000000-many";
  const [first] = many.cases;
  first.blocks = first.blocks.slice(0, 2);
  many.cases = Array.from({ length: 2500 }, (_, replica) => ({ ...first, case: { ...first.case, replica } }));
  many.plan.cases = many.cases.map(held => held.case);
  place.import(many);
  const file = place.path("many.html");
  place.keymark("export", many.id, "-o", file);
  const watched = await place.page();
  const page = await watched.open(String(pathToFileURL(file)));
  assert.equal(await page.locator('table[data-table="2"] tbody tr').count(), 1998);
  const text = await page.locator("main").textContent();
  assert.match(text, /showing the first 1998 of 2500 rows/);
  assert.ok(await page.locator("figure").count() <= 6);
  await page.getByLabel("Filter").fill("#1500");
  assert.equal(await page.locator('table[data-table="2"] tbody tr:visible').count(), 1);
  assert.ok(statSync(file).size < 12e6, `${statSync(file).size} bytes`);
  watched.assertQuiet([String(pathToFileURL(file))]);
});

test("what differs between two runs is marked", async () => {
  const other = structuredClone(record);
  other.id = "20260104-000000-0001";
  other.environment.kernel = "6.1.0-elsewhere";
  place.import(other);
  const file = place.path("two.html");
  place.keymark("export", record.id, other.id, "-o", file);
  const watched = await place.page();
  const page = await watched.open(String(pathToFileURL(file)));
  assert.match(await page.locator("main").textContent(), /kernel: .* \(.*\); 6\.1\.0-elsewhere \(20260104-000000-0001\)/);
  assert.match(await page.locator("tr.differs", { hasText: "kernel" }).textContent(), /elsewhere.*differs/);
  assert.match(await page.locator(".answer p").first().textContent(), /^20260104-000000-0001 against /);
  await watched.assertAccessible();
  await assertValid(readFileSync(file, "utf8"));
});
