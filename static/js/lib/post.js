const NO_LOGIN = 401;
export const LOGIN_ENDED = "Your login has ended. Log in again; what you typed is still here.";
const NO_ANSWER = "That did not work; the server does not answer as it should.";

export class Refused extends Error {
  constructor(status, answer = null) {
    super(`refused with ${status}`);
    this.status = status;
    this.answer = answer;
  }

  get isLoggedOut() {
    return this.status === NO_LOGIN;
  }

  /** What to tell whoever wrote something that was not taken. */
  words(otherwise = NO_ANSWER) {
    return this.isLoggedOut ? LOGIN_ENDED : otherwise;
  }
}

export function token() {
  return document.querySelector("input[name=csrfmiddlewaretoken]")?.value ?? "";
}

/** Whoever is not logged in any more is led to a page, with 200. */
export function isLogin(response) {
  return response.redirected && new URL(response.url).pathname.startsWith("/login/");
}

/** Raises Refused for an answer that is not what was asked for. */
export function checked(response) {
  if (isLogin(response)) throw new Refused(NO_LOGIN);
  if (!response.ok) throw new Refused(response.status, response);
  return response;
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
  return checked(response);
}
