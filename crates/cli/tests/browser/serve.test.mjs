// The local page in a real browser, and by requests that no browser sends.

import assert from "node:assert/strict";
import { request } from "node:http";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { Place, assertValid } from "./page.mjs";

let place, record, older, served;

before(async () => {
  place = await Place.make();
  record = place.measured();
  older = structuredClone(record);
  older.id = "20200102-030405-0001";
  older.started = "2020-01-02T03:04:05Z";
  for (const cases of [older.cases.map(({ case: own }) => own), older.plan.cases]) cases.forEach(own => { own.device = "Token <b>7</b>"; });
  place.import(older);
  served = await place.serve();
});
after(async () => {
  served.child.kill("SIGINT");
  assert.equal(await served.ended, 0);
  await place.end();
});

/** Status, headers and text of an answer. */
const ask = (path, options = {}, body) => new Promise((resolve, reject) => {
  const asked = request(new URL(path, options.address || served.address), options, answer => {
    let text = "";
    answer.on("data", data => { text += data; });
    answer.on("end", () => resolve({ status: answer.statusCode, headers: answer.headers, text }));
  });
  asked.on("error", reject);
  asked.end(body);
});

const listed = page => page.locator("tbody th a").allTextContents();

test("runs are listed, the newest first, and searched by device, algorithm and date", async () => {
  const watched = await place.page();
  const page = await watched.open(served.address);
  assert.deepEqual(await listed(page), [record.id, older.id]);
  await assertValid((await ask("/")).text);
  await watched.assertAccessible();
  await page.getByLabel("Device").fill("token");
  await page.getByRole("button", { name: "Search" }).click();
  assert.deepEqual(await listed(page), [older.id]);
  assert.equal(await page.locator("tbody b").count(), 0);
  await page.getByLabel("Device").fill("");
  await page.getByLabel("Algorithm").fill("ed25519");
  await page.getByLabel("To", { exact: true }).fill("2020-01-02");
  await page.getByRole("button", { name: "Search" }).click();
  assert.deepEqual(await listed(page), [older.id]);
  await page.getByLabel("Algorithm").fill("mldsa");
  await page.getByRole("button", { name: "Search" }).click();
  assert.match(await page.getByRole("status").textContent(), /No run matches/);
  watched.assertQuiet([served.address]);
});

test("a run leads to its report, and back", async () => {
  const watched = await place.page();
  const page = await watched.open(served.address);
  await page.getByRole("link", { name: record.id }).click();
  assert.match(await page.locator(".run").textContent(), new RegExp(record.id));
  await page.getByRole("button", { name: "algorithm" }).first().click();
  await page.getByRole("link", { name: "all runs" }).click();
  assert.equal(await page.locator("h1").textContent(), "Runs");
  watched.assertQuiet([served.address]);
});

test("any selection is compared, with the keyboard alone", async () => {
  const watched = await place.page();
  const page = await watched.open(served.address);
  for (const id of [record.id, older.id]) {
    await page.getByRole("checkbox", { name: `choose ${id}` }).focus();
    await page.keyboard.press("Space");
  }
  await page.getByRole("button", { name: "Report of the chosen runs" }).press("Enter");
  await page.waitForURL(/report/);
  assert.match(await page.locator(".run").textContent(), new RegExp(`${older.id}, ${record.id}`));
  assert.match(await page.locator("main").textContent(), /same machine, programs and settings/);
  await watched.assertAccessible();
  watched.assertQuiet([served.address]);
});

test("the history of a case is shown, and words that name none are told", async () => {
  const watched = await place.page();
  const page = await watched.open(served.address);
  await page.getByLabel("Words of a case").fill("ed25519 sign software raw");
  await page.getByRole("button", { name: "History" }).click();
  assert.match(await page.locator("h1").textContent(), /ed25519/);
  assert.match(await page.locator("main").textContent(), new RegExp(record.id));
  await watched.assertAccessible();
  watched.assertQuiet([served.address]);
  assert.equal((await ask("/history?words=nothing+like+that")).status, 404);
  assert.equal((await ask("/history?words=")).status, 400);
});

test("another name of this computer is refused", async () => {
  const { port } = new URL(served.address);
  for (const host of ["evil.invalid", `evil.invalid:${port}`, "127.0.0.1", `127.0.0.1:${port}.evil.invalid`, "localhost:1", `localhost:${port}@evil.invalid`]) {
    assert.equal((await ask("/", { headers: { host } })).status, 421, host);
  }
  assert.equal((await ask("/", { headers: { host: `localhost:${port}` } })).status, 200);
  // None at all, as HTTP/1.0 allows it, and two.
  for (const hosts of ["", `Host: 127.0.0.1:${port}\r\nHost: evil.invalid\r\n`]) {
    const answer = await new Promise(resolve => {
      const socket = connect(Number(port), "127.0.0.1", () => socket.write(`GET / HTTP/1.0\r\n${hosts}\r\n`));
      let text = "";
      socket.on("data", data => { text += data; });
      socket.on("close", () => resolve(text));
    });
    assert.match(answer, /^HTTP\/1\.[01] 4\d\d/, answer.slice(0, 80));
  }
});

test("nothing but reading is allowed", async () => {
  for (const method of ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"]) {
    const { status, headers } = await ask("/import", { method });
    assert.deepEqual([status, headers.allow], [405, "GET"], method);
  }
  const { headers } = await ask("/");
  assert.match(headers["content-security-policy"], /^default-src 'none'; .*frame-ancestors 'none'$/);
  assert.equal(headers["x-content-type-options"], "nosniff");
  assert.equal(headers["cross-origin-resource-policy"], "same-origin");
  assert.equal(headers["access-control-allow-origin"], undefined);
});

test("what is not there, or not understood, is refused in words", async () => {
  const expected = [["/nowhere", 404], ["/report?run=nobody", 404], ["/report", 400], ["/?from=yesterday", 400], ["/?skip=-1", 400],
    ["/report?run=2", 400], [`/report?${"run=x&".repeat(9)}`, 400], ["/report?run=%3Cscript%3E", 404], ["/../../etc/passwd", 404]];
  for (const [path, status] of expected) {
    const answer = await ask(path);
    assert.equal(answer.status, status, `${path}: ${answer.text}`);
    assert.match(answer.headers["content-type"], /^text\/plain/);
    assert.ok(answer.text.length > 10);
  }
});

test("it listens on this computer alone", async () => {
  const { port } = new URL(served.address);
  const addresses = Object.values((await import("node:os")).networkInterfaces()).flat().filter(({ internal }) => !internal);
  for (const { address, scopeid } of addresses) {
    if (scopeid) continue;
    const refused = await new Promise(resolve => {
      const socket = connect(Number(port), address, () => { socket.destroy(); resolve(false); });
      socket.on("error", () => resolve(true));
    });
    assert.ok(refused, address);
  }
});

test("runs are taken in with the token only, and only where that was asked for", async () => {
  const importing = await place.serve("--allow-import");
  try {
    const { address, said } = importing;
    const token = said.split("#token=")[1];
    assert.match(token, /^[0-9a-f]{32}$/);
    const uploaded = { ...record, id: "20260105-000000-0001" };
    const body = JSON.stringify(uploaded);
    const send = headers => ask("/import", { address, method: "POST", headers }, body);
    assert.equal((await send({})).status, 403);
    assert.equal((await send({ "x-keymark-token": token.replace(/./g, "0") })).status, 403);
    assert.equal((await send({ "x-keymark-token": token, origin: "http://evil.invalid" })).status, 405);
    assert.equal((await ask("/import", { address })).status, 405);
    const watched = await place.page();
    const page = await watched.open(said);
    await watched.assertAccessible();
    await page.getByLabel("A record").setInputFiles({ name: "run.json", mimeType: "application/json", buffer: Buffer.from(body) });
    await page.getByRole("button", { name: "Import" }).click();
    await page.getByText(`imported ${uploaded.id} with 3 cases`).waitFor();
    await page.reload();
    assert.ok((await listed(page)).includes(uploaded.id));
    watched.assertQuiet([address]);
    const wrong = await ask("/import", { address, method: "POST", headers: { "x-keymark-token": token } }, "{ no record");
    assert.equal(wrong.status, 400);
  } finally {
    importing.child.kill("SIGTERM");
    assert.equal(await importing.ended, 0);
  }
});
