// The site of contributed records, opened as files.

import assert from "node:assert/strict";
import { readFileSync, readdirSync, mkdirSync, writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { Place, assertValid } from "./page.mjs";

const MARKUP = `</script><script>alert(1)</script><img src="http://evil.invalid/x" onerror="alert(1)">"'&\u202e`;
let place, record, site;

/** The record on a card in place of the processor. */
function onCard(id, product) {
  const other = structuredClone(record);
  other.id = id;
  [...other.cases.map(held => held.case), ...other.plan.cases].forEach(own => Object.assign(own, { device: "card-1", store: "openpgp-card" }));
  Object.assign(other.stores[0], { device: "card-1", kind: "openpgp-card", product });
  return other;
}
const put = (folder, name, content) => writeFileSync(place.path(`${folder}/${name}`), typeof content === "string" ? content : JSON.stringify(content));

before(async () => {
  place = await Place.make();
  place.measured();
  mkdirSync(place.path("records"));
  place.keymark("share", "last", "-o", place.path("records/run.json"), "--yes");
  record = JSON.parse(readFileSync(place.path("records/run.json"), "utf8"));
  put("records", "card.json", onCard("20260101-000000-card-shared", "YubiKey 4 (firmware 4.3.5)"));
  const elsewhere = structuredClone(record);
  elsewhere.id = "20260102-000000-else-shared";
  elsewhere.environment.cpu_model = "Another CPU";
  elsewhere.cases = elsewhere.cases.filter(held => held.case.algorithm === "nistp256");
  elsewhere.plan.cases = elsewhere.cases.map(held => held.case);
  put("records", "elsewhere.json", elsewhere);
  put("records", "hostile.json", onCard("20260103-000000-hostile", MARKUP));
  place.keymark("site", place.path("records"), "-o", place.path("public"));
  site = String(pathToFileURL(place.path("public")));
});
after(() => place.end());

async function opened(path, options = {}) {
  const watched = await place.page(options);
  return { watched, page: await watched.open(`${site}/${path}`) };
}
const devices = page => page.locator("table tbody tr:visible th").allTextContents();
const every = () => readdirSync(place.path("public"), { recursive: true }).filter(name => name.endsWith(".html")).sort();
// The pages of records are reports, which have tests of their own: two of them will do.
const most = () => [...every().filter(name => !name.startsWith("records")), ...every().filter(name => name.startsWith("records")).slice(0, 2)];

test("the index leads to each device, and says that it is no ranking", async () => {
  const { watched, page } = await opened("index.html");
  const names = await devices(page);
  assert.equal(names.length, 4);
  assert.match(await page.getByRole("region", { name: "No ranking" }).textContent(), /across machines they cannot/);
  await page.getByRole("link", { name: "YubiKey 4", exact: true }).first().click();
  assert.match(page.url(), /devices\/yubikey-4\.html$/);
  assert.equal(await page.locator("h1").textContent(), "YubiKey 4");
  watched.assertQuiet([site]);
});

test("family and level leave the devices that have both in one key", async () => {
  const { watched, page } = await opened("index.html");
  await page.getByLabel("Family", { exact: true }).selectOption({ label: "RSA" });
  assert.equal((await devices(page)).length, 3, "the other machine has no RSA");
  assert.match(await page.locator("#shown").textContent(), /^3 of 4 devices$/);
  // RSA of 112 bits and curves of 128 are no RSA of 128.
  await page.getByLabel("Security", { exact: true }).selectOption({ label: "128-bit" });
  assert.deepEqual(await devices(page), ["YubiKey 4"], "by an article's RSA-4096");
  await page.getByLabel("Family", { exact: true }).selectOption("");
  assert.equal((await devices(page)).length, 4);
  await page.getByLabel("Filter").fill("another cpu");
  assert.deepEqual(await devices(page), ["Another CPU"]);
  watched.assertQuiet([site]);
});

test("the selection is in the address, and goes along to a device and back", async () => {
  const { watched, page } = await opened("index.html");
  await page.getByLabel("Family", { exact: true }).selectOption({ label: "elliptic curves" });
  await page.getByLabel("Security", { exact: true }).selectOption({ label: "128-bit" });
  assert.match(page.url(), /#family=elliptic-curves&level=128$/);
  const again = await opened(page.url().slice(site.length + 1));
  assert.deepEqual(await devices(again.page), await devices(page));
  await page.locator("table").getByRole("link", { name: "YubiKey 4" }).click();
  assert.match(page.url(), /yubikey-4\.html#family=elliptic-curves&level=128$/);
  await page.waitForLoadState();
  const shown = await page.locator("main > section[data-keys]:visible h2").allTextContents();
  assert.deepEqual(shown, ["nistp256 sign", "ed25519 sign"]);
  assert.deepEqual(await page.locator("nav .keys a:visible").allTextContents(), shown);
  await page.getByRole("link", { name: "all devices" }).click();
  await page.waitForLoadState();
  assert.equal(await page.getByLabel("Family", { exact: true }).inputValue(), "elliptic-curves");
  await page.getByLabel("Family", { exact: true }).selectOption("");
  await page.getByLabel("Security", { exact: true }).selectOption("");
  assert.match(page.url(), /index\.html$/);
  // What nobody chose is ignored.
  const wrong = await opened("index.html#family=__proto__&level=%3Cimg%20src%3Dx%3E&rows=");
  assert.equal((await devices(wrong.page)).length, 4);
  for (const { watched } of [again, wrong]) watched.assertQuiet([site]);
  watched.assertQuiet([site]);
});

test("a place on a device's page is no filter", async () => {
  const { watched, page } = await opened("devices/yubikey-4.html#rsa2048-sign");
  assert.equal(await page.locator("main > section[data-keys]:visible").count(), 5);
  await page.getByRole("link", { name: "ed25519 sign" }).click();
  assert.match(page.url(), /#ed25519-sign$/);
  const seen = section => section.getBoundingClientRect().top >= document.getElementById("tools").getBoundingClientRect().bottom;
  assert.ok(await page.locator("#rsa2048-sign").evaluate(section => section.scrollIntoView() ?? true));
  assert.ok(await page.locator("#rsa2048-sign").evaluate(seen), "not under the filters");
  watched.assertQuiet([site]);
});

test("chart and table are next to one another, with the same rows", async () => {
  const { watched, page } = await opened("devices/yubikey-4.html", { viewport: { width: 1700, height: 1000 } });
  const section = page.locator("#rsa2048-decrypt");
  await section.scrollIntoViewIfNeeded();
  assert.match(await section.locator("tbody").textContent(), /published-lwn-2017-keycards.*published.*1000.*162 ms \(no interval\)/);
  for (const each of await page.locator("section[data-keys]").all()) {
    await each.scrollIntoViewIfNeeded();
    assert.equal(await each.locator(".wide g[data-mark=dot]").count(), await each.locator("tbody tr").count());
    const [chart, table] = [await each.locator("figure").boundingBox(), await each.locator("table").boundingBox()];
    assert.ok(chart.x + chart.width <= table.x, "side by side");
  }
  // Every figure has its interval and n, every row its kind in words.
  for (const row of await page.locator("section[data-keys] tbody tr").all()) {
    const cells = await row.locator("td").allTextContents();
    assert.match(cells[0], /^(measured|published)$/);
    assert.match(cells[4], /\(.*\)$/);
    assert.match(cells[3], /^(\d+|not stated)$/);
  }
  watched.assertQuiet([site]);
});

test("sources and figures lead to the report, and to the record itself", async () => {
  const { watched, page } = await opened("devices/yubikey-4.html");
  const rows = page.locator("section.sources tbody tr");
  assert.equal(await rows.count(), 2);
  const file = await page.getByRole("link", { name: "record 20260101-000000-card-shared as JSON" }).getAttribute("href");
  const held = JSON.parse(readFileSync(new URL(file, `${site}/devices/`), "utf8"));
  assert.equal(held.id, "20260101-000000-card-shared");
  await page.getByRole("link", { name: "20260101-000000-card-shared", exact: true }).click();
  assert.match(await page.locator(".run").textContent(), /20260101-000000-card-shared/);
  await page.goBack();
  const figures = page.locator("#rsa2048-decrypt tbody").getByRole("link");
  assert.equal(await figures.count(), await page.locator("#rsa2048-decrypt tbody tr").count(), "each figure does");
  await figures.filter({ hasText: "published-lwn-2017-keycards" }).first().click();
  assert.match(page.url(), /\/records\/published-lwn-2017-keycards[^/]*\.html$/);
  await page.getByLabel("Filter").fill("rsa2048");
  await page.getByRole("link", { name: "all machines and records" }).click();
  assert.match(await page.locator("h1").textContent(), /^Machines/);
  assert.match(await page.locator("main").textContent(), /Another CPU/);
  watched.assertQuiet([site]);
});

test("it is used by the keyboard alone", async () => {
  const { watched, page } = await opened("index.html");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "To the devices");
  const focus = async () => page.evaluate(() => document.activeElement.id || document.activeElement.textContent);
  for (let step = 0; await focus() !== "family"; step += 1) {
    assert.ok(step < 10, "the filter is reached");
    await page.keyboard.press("Tab");
  }
  await page.keyboard.type("RSA");
  assert.equal((await devices(page)).length, 3);
  for (let step = 0; await focus() !== "YubiKey 4"; step += 1) {
    assert.ok(step < 20, "the device is reached");
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("Enter");
  await page.waitForURL(/yubikey-4\.html#family=rsa$/);
  watched.assertQuiet([site]);
});

test("without JavaScript all of it can be read and reached", async () => {
  const { watched, page } = await opened("index.html", { javaScriptEnabled: false });
  assert.equal((await devices(page)).length, 4);
  assert.equal(await page.locator("#tools:visible").count(), 0);
  const line = page.locator("tr", { has: page.getByRole("link", { name: "YubiKey 4" }) });
  assert.match(await line.textContent(), /: \d\S* (ms|s)/, "a time is on the first page");
  await line.getByRole("link", { name: "YubiKey 4" }).click();
  assert.match(await page.locator("nav .keys").textContent(), / \d\S* (ms|s)/);
  assert.equal(await page.locator("h1").textContent(), "YubiKey 4");
  assert.equal(await page.locator("section[data-keys]:visible").count(), 5);
  assert.equal(await page.locator("figure svg:visible").count(), 5);
  watched.assertQuiet([site]);
});

for (const colorScheme of ["light", "dark"]) {
  test(`axe-core finds nothing on any page in the ${colorScheme} theme, and nothing is asked of anybody`, async () => {
    for (const path of most()) {
      const { watched, page } = await opened(path, { colorScheme });
      await watched.assertAccessible();
      assert.equal(await page.locator("img").count(), 0);
      for (const picture of await page.locator("figure").getByRole("img").all()) {
        const names = await picture.evaluate(svg => svg.getAttribute("aria-labelledby").split(" ").map(id => document.getElementById(id)?.textContent));
        assert.ok(names.every(name => name && name.length > 5), `${names}`);
      }
      watched.assertQuiet([site]);
      await page.context().close();
    }
  });
}

test("nothing is wider than a narrow window but what scrolls by itself", async () => {
  for (const path of most()) {
    const { page } = await opened(path, { viewport: { width: 390, height: 800 } });
    const [wide, room] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(wide <= room, `${path}: ${wide} > ${room}`);
    await page.context().close();
  }
});

test("html-validate finds nothing", async () => {
  for (const path of every()) await assertValid(readFileSync(place.path(`public/${path}`), "utf8"));
});
