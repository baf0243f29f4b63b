import { lossesInCode } from './shell/code-losses.ts';
import { type Confidence, confidenceInCode, confidenceInShell } from './shell/confidence.ts';
import { type Danger, dangersIn } from './shell/dangers.ts';
import { type LookAt, type Loss, Losses, lostFile } from './shell/losses.ts';
import { traceShell } from './shell/trace.ts';

/** A decision about a text that would be run. */
export type Review = {
  readonly kind: 'run' | 'ask' | 'block';
  /** From 0 to 1; null where a dangerous pattern decided. */
  readonly confidence: number | null;
  /** For the agent and the owner; empty where it runs. */
  readonly reason: string;
};

/** Below it is blocked; up to the second, the owner is asked. */
const BLOCKED_BELOW = 0.5;
const ASKED_UP_TO = 0.8;

const LONGEST = 100_000;

/** Reviews a text for a shell. Without a look at the chat's files, none is known to be there. */
export function reviewShell(
  text: string,
  ownPrograms: ReadonlySet<string>,
  lookAt: LookAt = () => null,
): Review {
  if (text.length > LONGEST) return tooLong();
  const trace = traceShell(text);
  const [danger] = dangersIn(trace);
  if (danger !== undefined) return reviewOfDanger(danger);
  const doubtful = trace.code.map((one) => confidenceInCode(one.language, one.text));
  const review = reviewOf([confidenceInShell(text, trace, ownPrograms), ...doubtful]);
  return review.kind === 'block' ? review : reviewOfLoss(review, lostFile(trace.losses, lookAt));
}

function reviewOfLoss(review: Review, loss: Loss | null): Review {
  if (loss === null) return review;
  const { path, how, effect } = loss;
  const file = path ?? 'a file whose name is known only when it runs';
  const instead =
    effect === 'writes over'
      ? 'a new name, `>>`, `mv -n`, or a copy of it first'
      : 'a copy of it first';
  const reason = `\`${how}\`: It ${effect} ${file}, and what is in that file is lost. Another way: ${instead}.`;
  return { ...review, kind: 'ask', reason };
}

/** Reviews a program in some language. */
export function reviewCode(
  { language, code }: { readonly language: string; readonly code: string },
  ownPrograms: ReadonlySet<string>,
  lookAt: LookAt = () => null,
): Review {
  if (/^(?:shell|bash|sh|zsh|console)$/i.test(language))
    return reviewShell(code, ownPrograms, lookAt);
  if (code.length > LONGEST) return tooLong();
  // A shell is asked about the whole text too: nothing keeps a model from naming another language.
  const dangers = [
    ...dangersIn({ ...NOTHING, code: [{ language, text: code }] }),
    ...dangersIn(traceShell(code)).filter(({ kind }) => kind === 'block'),
  ];
  const [danger] = dangers;
  if (danger !== undefined) return reviewOfDanger(danger);
  const losses = new Losses();
  for (const { how, effect, path } of lossesInCode(code)) losses.ofCode(how, effect, path);
  const review = reviewOf([confidenceInCode(language, code)]);
  return review.kind === 'block' ? review : reviewOfLoss(review, lostFile(losses.all, lookAt));
}

const NOTHING = {
  calls: [],
  written: [],
  losses: [],
  sql: [],
  code: [],
  unknown: [],
  piped: [],
  bombs: [],
  own: new Set<string>(),
  faults: [],
};

function reviewOfDanger({ kind, pattern, why, instead }: Danger): Review {
  const what = kind === 'block' ? `Blocked (${pattern})` : `\`${pattern}\``;
  const reason = kind === 'block' ? `${what}: ${why} ${instead}` : `${what}: ${why}`;
  return { kind, confidence: null, reason };
}

function reviewOf(all: readonly Confidence[]): Review {
  const least = all.reduce((one, other) => (other.value < one.value ? other : one));
  const { value, doubts } = least;
  const doubt = doubts[0] ?? 'it is not clear what it does';
  if (value < BLOCKED_BELOW) {
    const reason = `Blocked: ${doubt}, so what it does cannot be told before (confidence ${value}). Write it as plain commands, or put it into a file and run that.`;
    return { kind: 'block', confidence: value, reason };
  }
  if (value <= ASKED_UP_TO) {
    return { kind: 'ask', confidence: value, reason: `Confidence ${value}: ${doubt}.` };
  }
  return { kind: 'run', confidence: value, reason: '' };
}

function tooLong(): Review {
  const reason = `Blocked: a command of more than ${LONGEST} characters cannot be looked through. Put it into a file and run that.`;
  return { kind: 'block', confidence: null, reason };
}
