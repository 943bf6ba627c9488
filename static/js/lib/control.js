/** What the page says and offers about who drives, from the server's facts. No document in here. */

const minutes = (seconds) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;

/** `left` counts down on the page between two words of the server. */
export function timeLeft(seconds) {
  return minutes(Math.max(0, Math.round(seconds)));
}

/** Icon, tone and words of the chip, for one whose connection is `live`. */
export function chip({ mode, name, recorded }) {
  if (mode === "you") return { icon: "hand", tone: "human", text: `You are driving${recorded ? ", recorded" : ""}` };
  if (mode === "other") return { icon: "hand", tone: "human", text: `${name} is driving` };
  if (mode === "agent") return { icon: "bot", tone: "run", text: "Agent is driving" };
  return { icon: "eye", tone: "run", text: "You are watching" };
}

/** The one button: what it is called, what it does. None for who may only watch. */
export function offer({ mode, stage, agent, may_drive: mayDrive }) {
  if (!mayDrive) return null;
  if (mode === "you") {
    return agent ? { text: "Hand back", verb: "handback" } : { text: "Leave control", verb: "back" };
  }
  if (stage) return { text: "Taking over", verb: "" };
  if (mode === "other") return { text: "Ask for control", verb: "ask" };
  return { text: agent ? "Take over" : "Take control", verb: "take" };
}

const STAGES = {
  finishing: "The agent finishes what it is doing",
  saving: "The machine is being saved as it is now",
};

/**
 * For one whose take-over is under way. Nobody asks for it any more when `waited` is null: a step of it failed, unless
 * it is `stopping`.
 */
function takingOver({ stage }, { waited, stopping }) {
  if (stopping) return { text: "Cancelling", acts: [] };
  const acts = stage === "finishing" ? [{ text: "Cancel", verb: "withdraw" }] : [];
  if (waited === null) acts.unshift({ text: "Try again", verb: "take", main: true });
  else if (stage === "finishing" && waited >= 1000) acts.unshift({ text: "Interrupt now", verb: "interrupt", main: true });
  return { text: STAGES[stage], acts };
}

/** The line over the desktop: something waits for this person, or this person waits for something. */
export function bar(facts, { left, waited, stopping }) {
  if (facts.stage) return takingOver(facts, { waited, stopping });
  if (facts.asker) {
    const acts = [
      { text: "Hand over", verb: "accept", main: true },
      { text: "Not now", verb: "decline" },
    ];
    return { text: `${facts.asker} asks for control`, acts };
  }
  if (facts.mode === "you" && left <= 60) {
    const acts = [{ text: "Extend", verb: "extend", main: true }];
    return { text: `Your control ends in ${timeLeft(left)}`, acts };
  }
  if (facts.asking) return { text: `Asking ${facts.name} for control`, acts: [] };
  return null;
}

/** The line in the hand-back dialog, behind which nothing of the page can be reached: there is always one. */
export function backLine(facts, now) {
  const { mode, name, stage } = facts;
  const waiting = bar(facts, now);
  if (waiting) return waiting;
  if (mode === "you") return { text: `${timeLeft(now.left)} left`, acts: [{ text: "Extend", verb: "extend" }] };
  const offered = stage ? null : offer(facts);
  const first = mode === "other" ? `ask ${name} for control` : "take over again";
  const acts = offered?.verb ? [{ ...offered, main: true }] : [];
  return { text: `To hand back, ${first}. What you wrote stays here.`, acts };
}

/** By touch there may be no keyboard. */
function howToLeave(facts, touch) {
  return touch ? `The button “${offer({ ...facts, may_drive: true }).text}” gives control back.` : "Ctrl+Alt+Shift gives control back.";
}

/** What everybody is told when it changes hands: words and tone. `own` says that this page asked for it. */
export function news(before, after, { own = false, touch = false } = {}) {
  if (before.mode === after.mode && before.name === after.name) {
    return before.asking && !after.asking ? { text: `${after.name} keeps control for now.` } : null;
  }
  if (after.mode === "you") return { text: `You are driving. ${howToLeave(after, touch)}` };
  if (after.mode === "other") {
    return { text: `${after.name} is driving now.`, tone: before.mode === "you" && !own ? "warning" : "info" };
  }
  if (before.mode === "you") {
    if (own) return after.agent ? null : { text: "You are watching." };
    return { text: "You are not driving any more: your time was over.", tone: "warning" };
  }
  if (after.mode === "agent") return { text: "The agent is driving." };
  return before.mode === "other" ? { text: `${before.name} is not driving any more.` } : null;
}
