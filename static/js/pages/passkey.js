const NO_PASSKEYS =
  "Passkeys do not work here: the browser is too old, or the address is neither https nor localhost by name.";
const STOPPED = "That did not work, or was stopped. Try once more.";

function able() {
  return Boolean(window.PublicKeyCredential?.parseRequestOptionsFromJSON && window.isSecureContext);
}

function tell(text) {
  const place = document.querySelector("[data-passkey-trouble]");
  place.querySelector("p").textContent = text;
  place.hidden = !text;
}

/** On the page, or asked for at the form's own address where nobody is known yet. */
async function options(form) {
  const here = document.getElementById("passkey-options");
  if (here) return JSON.parse(here.textContent);
  const answer = await fetch(form.action, { headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Error(`refused with ${answer.status}`);
  return answer.json();
}

async function create(given) {
  const wanted = structuredClone(given.creation_options.publicKey);
  const kept = { residentKey: "required", requireResidentKey: true, userVerification: "required" };
  wanted.authenticatorSelection = { ...wanted.authenticatorSelection, ...kept };
  return navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(wanted) });
}

async function get(given) {
  const wanted = given.request_options.publicKey;
  return navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(wanted) });
}

async function use(form) {
  tell("");
  try {
    const found = await (form.dataset.passkey === "create" ? create : get)(await options(form));
    form.elements.credential.value = JSON.stringify(found.toJSON());
    form.submit();
  } catch {
    tell(STOPPED);
  }
}

for (const form of document.querySelectorAll("form[data-passkey]")) {
  const inSight = !form.hidden;
  form.hidden = !able() && !inSight;
  if (!able() && inSight) {
    tell(NO_PASSKEYS);
    form.querySelector("button").disabled = true;
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    use(form);
  });
}
