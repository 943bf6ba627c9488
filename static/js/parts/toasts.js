const STAY = 6000;

function lifetime(toast) {
  toast.querySelector("[data-dismiss]").hidden = false;
  if (!toast.matches(".error, .warning")) setTimeout(() => toast.remove(), STAY);
}

/**
 * Shows and announces one sentence; a warning, such as that control is lost or an agent asks, at once. The same sentence
 * is not said twice at once, unless it has become serious. Behind an open dialog nobody could read it or put it away:
 * a dialog that has a place for it shows the last one.
 */
export function say(text, tone = "info") {
  const inside = document.querySelector("dialog:modal [data-says]");
  const same = [...(inside ?? document).querySelectorAll(".toast")].find((toast) => toast.textContent.trim() === text);
  if (same?.classList.contains(tone)) return;
  same?.remove();
  inside?.replaceChildren();
  const toast = document.getElementById("toast").content.firstElementChild.cloneNode(true);
  toast.classList.add(tone);
  if (tone === "warning" && !inside) toast.role = "alert";
  toast.querySelector("p").textContent = text;
  (inside ?? document.getElementById(tone === "warning" ? "alerts" : "toasts")).append(toast);
  lifetime(toast);
}

/** What the server wanted to tell, taken out of a page it answered with. */
export function sayAll(page) {
  for (const toast of page.querySelectorAll("#toasts .toast")) {
    const tone = ["success", "error", "warning"].find((name) => toast.classList.contains(name));
    say(toast.textContent.trim(), tone);
  }
}

export function installToasts() {
  document.querySelectorAll(".toast").forEach(lifetime);
  document.addEventListener("click", (event) => {
    event.target.closest("[data-dismiss]")?.closest(".toast").remove();
  });
}
