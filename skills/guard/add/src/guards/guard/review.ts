import { type Confidence, confidenceInCode, confidenceInShell } from './shell/confidence.ts';
import { type Danger, dangersIn } from './shell/dangers.ts';
import { type LookAt, overwritten } from './shell/replaced.ts';
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
  const lost = review.kind === 'block' ? null : overwritten(trace.replaced, lookAt);
  if (lost === null) return review;
  const { path, how } = lost;
  const reason = `\`${how}\`: It writes over ${path}, and what is in that file is lost. Another way: a new name, \`>>\`, \`mv -n\`, or a copy of it first.`;
  return { ...review, kind: 'ask', reason };
}

/** Reviews a program in some language. */
export function reviewCode(
  { language, code }: { readonly language: string; readonly code: string },
  ownPrograms: ReadonlySet<string>,
  lookAt?: LookAt,
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
  return danger === undefined
    ? reviewOf([confidenceInCode(language, code)])
    : reviewOfDanger(danger);
}

const NOTHING = {
  calls: [],
  written: [],
  replaced: [],
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
