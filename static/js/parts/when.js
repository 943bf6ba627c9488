const REST = 300;

/** The browser knows their names; there are hundreds, so they come when somebody looks for one. */
function offerZones(list) {
  for (const name of Intl.supportedValuesOf?.("timeZone") ?? []) list.append(new Option(name, name));
}

/** Says back what is understood of a time, as it is typed; a line of cron and plain words alike. */
export function installWhen(root, changed = () => {}) {
  const when = root.querySelector("[data-when]");
  const zone = root.querySelector("[data-zone]");
  if (!when) return;
  let timer = 0;
  let asked = 0;

  async function look() {
    const mine = ++asked;
    const query = new URLSearchParams({ when: when.value, zone: zone.value });
    let answer;
    try {
      answer = await fetch(`/schedules/preview/?${query}`);
    } catch {
      return;
    }
    if (!answer.ok || mine !== asked) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.querySelector("[data-live=preview]");
    if (fresh) root.querySelector("[data-live=preview]").replaceWith(document.adoptNode(fresh));
  }

  function soon() {
    clearTimeout(timer);
    timer = setTimeout(look, REST);
  }

  zone.addEventListener("focus", () => offerZones(zone.list), { once: true });
  if (zone.value === "UTC" && !when.value) zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
  when.addEventListener("input", soon);
  zone.addEventListener("input", soon);
  root.addEventListener("click", (event) => {
    const phrase = event.target.closest("[data-phrase]");
    if (!phrase) return;
    when.value = phrase.dataset.phrase;
    when.focus();
    look();
    changed();
  });
  for (const list of root.querySelectorAll("[data-phrases]")) list.hidden = false;
}
