import type { Plan, PlannedChat, PlannedMessage } from './plan.ts';
import type { Heard, Town } from './town.ts';

/** Everything that is wrong with what the assistant said in a day; empty for a good one. */
export function judgeDay(
  plan: Plan,
  town: Town,
  tasks: ReadonlyMap<PlannedChat, string>,
): string[] {
  const wrong = plan.chats.flatMap((chat) => {
    const heard = town.heardIn(chat);
    if (chat.kind === 'unregistered') return heard.map(({ text }) => `${chat.name} heard ${text}`);
    const said = plan.messages.filter((message) => message.chat === chat);
    const tokens = said.map(({ token }) => token);
    const answers = heard.filter(({ text }) => !isActivity(text));
    return [
      ...(chat.kind === 'budgeted' ? judgeBudgeted(answers, tokens) : judgeAnswers(answers, said)),
      ...judgeTasks(answers, tasks.get(chat) ?? null),
    ].map((complaint) => `${chat.name}: ${complaint}`);
  });
  return [...wrong, ...town.heardDirectly().map(({ text }) => `somebody directly heard ${text}`)];
}

/**
 * Every message of a chat was shown to its agent once, in order, and nothing of another chat's. What
 * asked nothing may be further back than an agent is shown, which then was told how many those are.
 */
function judgeAnswers(heard: readonly Heard[], said: readonly PlannedMessage[]): string[] {
  const strange = heard.filter(({ text }) => !isAnswer(text)).map(({ text }) => `said ${text}`);
  const shown = heard.flatMap(({ text }) => text.match(/\bm\d{4}\b|\+\d+/g) ?? []);
  let next = 0;
  for (const [at, item] of shown.entries()) {
    const leftOut = item.startsWith('+') ? said.slice(next, next + Number(item)) : [];
    const isWrong =
      leftOut.length === 0 ? item !== said[next]?.token : leftOut.some(({ isAsked }) => isAsked);
    if (isWrong) {
      const wanted = said.slice(next, next + 4).map(({ token }) => token);
      const got = shown.slice(at, at + 4);
      return [...strange, `answered … ${got.join(' ')} … instead of … ${wanted.join(' ')} …`];
    }
    next += Math.max(1, leftOut.length);
  }
  return next === said.length ? strange : [...strange, `answered ${next} of ${said.length}`];
}

/** The one line that a chat gets which has spent what it may. */
export const isBudgetLine = (text: string): boolean => /midnight/i.test(text);

/**
 * A chat that ran out of money says so once and then nothing until there is more; what was answered is
 * in order, once each, and its last message is answered again.
 */
function judgeBudgeted(heard: readonly Heard[], tokens: readonly string[]): string[] {
  const lines = heard.filter(({ text }) => isBudgetLine(text));
  const answered = heard.filter(({ text }) => !isBudgetLine(text)).flatMap(tokensIn);
  const places = answered.map((token) => tokens.indexOf(token));
  const isInOrder = places.every((place, at) => place > (places[at - 1] ?? -1));
  const strange = heard.filter(({ text }) => !isAnswer(text) && !isBudgetLine(text));
  return [
    ...strange.map(({ text }) => `said ${text}`),
    ...(lines.length === 1 ? [] : [`told of its budget ${lines.length} times`]),
    ...(isInOrder ? [] : [`answered out of order or twice: ${answered.join(' ')}`]),
    ...(answered.at(-1) === tokens.at(-1) ? [] : ['its last message was not answered']),
  ];
}

function judgeTasks(heard: readonly Heard[], task: string | null): string[] {
  const done = heard.flatMap(({ text }) =>
    [...text.matchAll(/did (T\d+)/g)].map(([, name]) => name),
  );
  const wanted = task === null ? [] : [task];
  return done.join() === wanted.join() ? [] : [`did "${done}" instead of "${wanted}"`];
}

/** Tells the activity lines of a turn of more than 20 s, one for each run: on a slow machine there are some. */
const isActivity = (text: string): boolean => /^(… [a-z ]+(\n|$))+$/.test(text);

/** One answer, or several where somebody said something while the agent was at it. */
const isAnswer = (text: string): boolean =>
  text
    .split(/\n+/)
    .every((line) => /^re:( m\d{4}| \+\d+)*(; (did|noted|late) T\d+)*$/.test(line.trim()));

function tokensIn({ text }: Heard): readonly string[] {
  return text.match(/\bm\d{4}\b/g) ?? [];
}
