import { onLive, type Progress, turns } from './live.ts';
import { duration, wordsOf } from './page.ts';
import { html, signal, type VNode } from './vendor.ts';

// What proves a change of the code, while it runs: each check and test with its end and what it prints.

const t = wordsOf('code');

type Step = {
  readonly text: string;
  readonly state: 'running' | 'passed' | 'failed' | 'stopped' | 'note';
  /** A plain step ends when the next begins; checks and tests say so themselves. */
  readonly endsItself: boolean;
  readonly startedAt: number;
  readonly tookMs: number | null;
  readonly output: string;
};

/** A change that was begun since this page was opened, or ran then. */
type Change = {
  readonly turn: string;
  readonly jid: string;
  readonly title: string;
  readonly startedAt: number;
  readonly steps: readonly Step[];
  /** How its turn has ended; null while it runs. */
  readonly end: string | null;
};

const MAX_OUTPUT = 20_000;
const KEPT = 5;
export const changes = signal<readonly Change[]>([]);

onLive((event) => {
  if (event.kind === 'progress') {
    change(event.turn, event.jid, (steps) => stepsAfter(steps, event.progress));
  } else if (event.kind === 'ended') end(event.turn, event.state);
  // What runs is told anew after a break.
  else if (event.kind === 'hello') {
    changes.value = changes.value.map((one) => (one.end === null ? ended(one, 'lost') : one));
  }
});

function change(turn: string, jid: string, by: (steps: readonly Step[]) => readonly Step[]): void {
  const known = changes.value.find((one) => one.turn === turn && one.end === null);
  const began = turns.value.find((one) => one.turn === turn);
  const title = (began?.title ?? '').replaceAll('`', '');
  const startedAt = began?.startedAt ?? Date.now();
  const before = known ?? { turn, jid, title, startedAt, steps: [], end: null };
  const others = changes.value.filter((one) => one.turn !== turn);
  changes.value = [...others, { ...before, steps: by(before.steps) }].slice(-KEPT);
}

function end(turn: string, state: string): void {
  changes.value = changes.value.map((one) =>
    one.turn === turn && one.end === null ? ended(one, state) : one,
  );
}

function ended(one: Change, state: string): Change {
  const last = state === 'lost' ? 'stopped' : 'passed';
  const steps = one.steps.map((step) => {
    if (step.state !== 'running') return step;
    return closed(step, step.endsItself ? 'stopped' : last);
  });
  return { ...one, steps, end: state };
}

function stepsAfter(steps: readonly Step[], progress: Progress): readonly Step[] {
  const { kind, text, outcome = 'stopped', output = '' } = progress;
  const isRunning = (step: Step) => step.endsItself && step.text === text && step.tookMs === null;
  if (kind === 'output') {
    return steps.map((step) =>
      isRunning(step) ? { ...step, output: (step.output + output).slice(-MAX_OUTPUT) } : step,
    );
  }
  if (kind === 'ended') {
    return steps.map((step) => (isRunning(step) ? closed(step, outcome) : step));
  }
  const state = kind === 'note' ? 'note' : 'running';
  const begun = { text, state, endsItself: kind === 'started', output: '' } as const;
  const step = { ...begun, startedAt: Date.now(), tookMs: kind === 'note' ? 0 : null };
  if (kind === 'note') return [...steps, step];
  const before = steps.map((one) =>
    one.tookMs === null && !one.endsItself ? closed(one, 'passed') : one,
  );
  return kind === 'done' ? before : [...before, step];
}

function closed(step: Step, state: Step['state']): Step {
  return { ...step, state, tookMs: Date.now() - step.startedAt };
}

const MARKS = { running: '…', passed: '✓', failed: '✗', stopped: '–', note: '·' } as const;

/** A change with all that proves it. */
export function Proof({ change: { title, steps, end } }: { readonly change: Change }): VNode {
  const isBad = steps.some(({ state }) => state === 'failed');
  const word =
    end === null
      ? 'proof-runs'
      : end === 'suspended'
        ? 'proof-published'
        : isBad
          ? 'proof-failed'
          : 'proof-ended';
  return html`<section class="proof" aria-label=${t('proof')} aria-busy=${end === null}>
    <p class="row"><strong>${title}</strong> <span role="status" class=${word === 'proof-failed' ? 'bad' : 'hint'}>${t(word)}</span></p>
    <ol class="stages">${steps.map(
      ({ text, state, tookMs, output }, at) => html`<li key=${at} class=${state}>
        <span class="mark" aria-hidden="true">${MARKS[state]}</span>
        <span>${text} <span class="hint">${state === 'note' ? '' : t(state)}${tookMs === null || tookMs < 100 ? '' : `, ${duration(tookMs)}`}</span></span>
        ${output.trim() === '' ? null : html`<details open=${state === 'failed'}><summary>${t('output')}</summary><pre tabindex="0">${output.trim()}</pre></details>`}
      </li>`,
    )}</ol>
  </section>`;
}
