// Everything works without this file.
"use strict";

// A page that the browser kept from before a sign-out is asked for again, and then is not given.
window.addEventListener("pageshow", (event) => {
  if (event.persisted) window.location.reload();
});

// Shows what is typed into a password field, for as long as somebody wants to see it.
for (const input of document.querySelectorAll('input[type="password"]')) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "quiet show";
  button.setAttribute("aria-pressed", "false");
  button.textContent = "Show password";
  button.addEventListener("click", () => {
    const shown = input.type === "text";
    input.type = shown ? "password" : "text";
    button.setAttribute("aria-pressed", String(!shown));
    button.textContent = shown ? "Show password" : "Hide password";
  });
  input.after(button);
}
