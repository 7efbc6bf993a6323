"use strict";
(() => {
  const byId = id => document.getElementById(id);
  // Behind '#' the token is not sent along with any request.
  byId("token").value = new URLSearchParams(location.hash.slice(1)).get("token") || "";
  byId("upload").addEventListener("submit", async event => {
    event.preventDefault();
    const [file] = byId("file").files;
    byId("imported").textContent = `reading ${file.name}`;
    try {
      const answer = await fetch("/import", { method: "POST", body: file, headers: { "x-keymark-token": byId("token").value } });
      byId("imported").textContent = await answer.text();
    } catch (error) {
      byId("imported").textContent = String(error);
    }
  });
})();
