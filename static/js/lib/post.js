export class Refused extends Error {
  constructor(status, answer = null) {
    super(`refused with ${status}`);
    this.status = status;
    this.answer = answer;
  }
}

export function token() {
  return document.querySelector("input[name=csrfmiddlewaretoken]")?.value ?? "";
}

/** Sends a form's fields. Raises Refused; status 0 says that nothing answered. */
export async function post(url, fields) {
  let response;
  try {
    response = await fetch(url, {
      method: "POST",
      body: new URLSearchParams(fields),
      headers: { "X-CSRFToken": token() },
    });
  } catch {
    throw new Refused(0);
  }
  if (!response.ok) throw new Refused(response.status, response);
  return response;
}
