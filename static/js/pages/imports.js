import { sizeOf } from "../lib/filelist.js";
import { followJobs } from "../parts/jobs.js";

const form = document.querySelector("[data-import]");
const drop = form.querySelector("[data-drop]");
const input = form.elements.bundle;
const part = (name) => form.querySelector(`[data-${name}]`);

function complain(text) {
  part("problem").hidden = !text;
  part("problem-text").textContent = text;
  input.setAttribute("aria-invalid", String(Boolean(text)));
}

function wrong(file) {
  if (!file) return "Choose a file.";
  const most = Number(form.dataset.most);
  return file.size > most ? `The file has ${sizeOf(file.size)}, and ${sizeOf(most)} is the most that is taken here.` : "";
}

function show(event) {
  const bar = part("sending").querySelector("progress");
  bar.value = event.total ? event.loaded / event.total : 0;
  part("sent").textContent = `${sizeOf(event.loaded)} of ${sizeOf(event.total)} sent`;
}

function send() {
  const request = new XMLHttpRequest();
  const idle = (waiting) => {
    part("sending").hidden = !waiting;
    form.querySelector(".btn.primary").disabled = waiting;
  };
  request.upload.addEventListener("progress", show);
  request.addEventListener("load", () => {
    idle(false);
    if (request.status < 300) {
      location.assign(request.responseURL);
      return;
    }
    const page = new DOMParser().parseFromString(request.responseText, "text/html");
    complain(page.querySelector("[data-problem-text]")?.textContent || "The server does not answer as it should.");
  });
  request.addEventListener("error", () => {
    idle(false);
    complain("The connection broke off while the file was sent. Nothing was imported; try again.");
  });
  idle(true);
  request.open("POST", location.href);
  request.send(new FormData(form));
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const problem = wrong(input.files[0]);
  complain(problem);
  if (!problem) send();
});

input.addEventListener("change", () => complain(""));
part("drop-hint").hidden = false;
for (const name of ["dragover", "dragleave", "drop"]) {
  drop.addEventListener(name, (event) => {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    drop.classList.toggle("over", name === "dragover");
    if (name === "drop" && event.dataTransfer.files.length) input.files = event.dataTransfer.files;
  });
}

followJobs();
