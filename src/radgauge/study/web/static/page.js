"use strict";
// Buttons of the pages around the cases: each sends one request and goes where the answer says.
for (const button of document.querySelectorAll("button[data-post]")) {
  button.addEventListener("click", async () => {
    const said = document.getElementById("said");
    button.disabled = true;
    try {
      const reply = await fetch(button.dataset.post, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-CSRF-Token": document.body.dataset.csrf },
        body: "{}",
        credentials: "same-origin",
      });
      const body = await reply.json();
      if (body.to) location.assign(body.to);
      else said.textContent = body.said ?? body.error;
    } catch {
      said.textContent = "The server does not answer. Please try again in a moment.";
    }
    button.disabled = false;
  });
}
document.addEventListener("keydown", (event) => {
  const first = document.querySelector("[data-enter]");
  if (event.key === "Enter" && first && !event.target.closest("button, a, input, textarea, summary")) first.click();
});
document.body.dataset.ready = "yes";
