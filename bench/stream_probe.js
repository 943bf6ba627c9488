/* When each step of a run was first painted, by the wall clock. */
(() => {
  const seen = new Map();
  window.probe = { seen: () => [...seen] };
  const look = () => {
    const fresh = [...document.querySelectorAll("#acts [data-step]")].filter(({ dataset }) => !seen.has(dataset.step));
    for (const { dataset } of fresh) seen.set(dataset.step, 0);
    if (!fresh.length) return;
    requestAnimationFrame(() => {
      const now = Date.now();
      for (const { dataset } of fresh) seen.set(dataset.step, now);
    });
  };
  new MutationObserver(look).observe(document, { childList: true, subtree: true });
})();
