document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  const form = event.target.closest("form[data-submit-keys]") ?? document.querySelector("form[data-submit-keys]");
  event.preventDefault();
  form.requestSubmit();
});

document.addEventListener("submit", (event) => {
  for (const button of event.target.querySelectorAll("button:not([name])")) button.disabled = true;
});

addEventListener("pageshow", () => {
  for (const button of document.querySelectorAll("form button:disabled")) button.disabled = false;
});
