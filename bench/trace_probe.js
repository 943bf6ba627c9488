// Runs in the page before its own scripts, and writes down when something is on the screen: milliseconds since the
// navigation began, since a key was pressed, or since Enter.
{
  const probe = { opened: 0, steps: [], searches: [] };
  window.probe = probe;
  const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now()))));
  const until = (right) =>
    new Promise((done) => {
      const look = () => (right() ? done() : requestAnimationFrame(look));
      look();
    });
  const pictures = () => [...document.querySelectorAll("[data-frame] img:not([hidden])")];
  const loaded = () => pictures().length > 0 && pictures().every((image) => image.complete && image.naturalWidth);
  const decoded = () => Promise.all(pictures().map((image) => image.decode()));
  const answers = () => document.querySelector("[data-fold]:not([hidden])") && document.querySelector("[role=treeitem]");
  const shown = () => document.querySelector("[data-detail] [data-body]")?.dataset.of;
  const count = () => document.querySelector("[data-count]")?.textContent;

  const open = async () => {
    await until(() => loaded() && answers());
    await decoded();
    probe.opened = await painted();
  };
  const step = async (began, before) => {
    await until(() => shown() !== before && loaded());
    await decoded();
    probe.steps.push((await painted()) - began);
  };
  const search = async (began) => {
    await until(() => /hit/.test(count()));
    probe.searches.push((await painted()) - began);
  };

  probe.fill = (query) => {
    document.querySelector("main input[type=search]").value = query;
  };
  window.addEventListener(
    "keydown",
    (event) => {
      if (event.key === "j") step(event.timeStamp, shown());
      if (event.key === "Enter") search(event.timeStamp);
    },
    { capture: true },
  );
  document.addEventListener("DOMContentLoaded", open);
}
