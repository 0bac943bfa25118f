"use strict";
// A link ends in #token: that part of an address is not sent to any server, and so stands in no log. It is handed
// over here once, for a session, and removed from the address.
(async () => {
  const said = document.getElementById("said");
  const token = location.hash.slice(1);
  history.replaceState(null, "", "/join");
  if (!token) {
    said.textContent = "Please open the whole link that you were sent; it ends in a long word of letters and digits.";
    return;
  }
  try {
    const reply = await fetch("/join", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ token }),
      credentials: "same-origin",
    });
    const body = await reply.json();
    if (reply.ok) location.replace(body.to);
    else said.textContent = body.error;
  } catch {
    said.textContent = "The server does not answer. Please open your link again in a moment.";
  }
})();
