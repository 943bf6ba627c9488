import { followJobs } from "../parts/jobs.js";

const form = document.querySelector("[data-export]");

/** The address says what is chosen, so that the sizes on the page are those of just that. */
function address() {
  const fields = new FormData(form);
  const query = new URLSearchParams();
  for (const name of ["kind", "branch", "first", "last"]) {
    if (fields.get(name)) query.set(name, fields.get(name));
  }
  return `?${query}`;
}

if (form) {
  const fragments = followJobs();
  form.querySelector("[data-plain]").hidden = true;
  form.addEventListener("change", (event) => {
    history.replaceState(null, "", address());
    if (event.target.matches("[data-scope]")) fragments.refresh();
  });
}
