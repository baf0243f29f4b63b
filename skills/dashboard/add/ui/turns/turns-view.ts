import { Command } from '../command.ts';
import { keepFresh, turns } from '../live.ts';
import { count, duration, get, linkTo, moment, money, quoted, wordsOf } from '../page.ts';
import { html, useEffect, useState, type VNode } from '../vendor.ts';

const t = wordsOf('turns');

type Tokens = {
  readonly inputTokens: number;
  readonly cacheWriteTokens: number;
  readonly cacheReadTokens: number;
  readonly outputTokens: number;
};
type Run = Tokens & {
  readonly seq: number;
  readonly turnId: string;
  readonly chatName: string;
  readonly model: string | null;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly state: string;
  readonly error: string | null;
  readonly modelCalls: number;
  readonly toolCalls: number;
  readonly microUsd: number;
  readonly unpricedCalls: number;
  readonly leftOut: number;
};
type Step = Tokens & {
  readonly kind: 'model' | 'host_tool' | 'own_tool';
  readonly name: string;
  readonly startedMs: number;
  readonly durationMs: number;
  readonly error: string | null;
  readonly microUsd: number | null;
};
type Newest = {
  readonly runs: readonly Run[];
  readonly counts: { readonly queued: number; readonly running: number };
  /** Turns that can be run again. */
  readonly failed: readonly { readonly turnId: string; readonly jid: string }[];
};

export function TurnsView({ rest: [wanted] }: { readonly rest: readonly string[] }): VNode {
  const [newest, setNewest] = useState<Newest | null>(null);
  useEffect(
    () =>
      keepFresh(
        ({ kind }) => kind === 'ended' || kind === 'hello',
        async () => setNewest(await get<Newest>('turns/newest')),
      ),
    [],
  );
  const run = newest?.runs.find(({ seq }) => String(seq) === wanted);
  // A turn that was run again has several runs; its newest one has the button.
  const retryOf = ({ seq, turnId, chatName: name }: Run) => {
    const found = newest?.failed.find((one) => one.turnId === turnId);
    const isNewest = newest?.runs.find((one) => one.turnId === turnId)?.seq === seq;
    return found === undefined || !isNewest
      ? null
      : html`<${Command} line=${`retry ${quoted({ jid: found.jid, name })}`} label=${t('retry')} />`;
  };
  if (run !== undefined) return html`<${Steps} run=${run} retry=${retryOf(run)} />`;
  return html`<h1>${t('title')}</h1>
    <h2>${t('now')}</h2>
    ${turns.value.length === 0 ? html`<p class="hint">${t('idle')}</p>` : null}
    ${turns.value.map(
      (turn) => html`<article class="card" key=${turn.turn} aria-busy="true">
        <div class="row"><h3>${turn.title ?? turn.folder ?? turn.jid}</h3><span class="tag">${t(turn.work)}</span>
          <a class="push" href=${linkTo('chat', turn.jid)}>${t('chat')}</a></div>
        <p>${turn.lines.at(-1) ?? t('thinking')} …</p>
        ${turn.text === '' ? null : html`<p class="hint">${turn.text.slice(-300)}</p>`}
      </article>`,
    )}
    ${newest !== null && newest.counts.queued > 0 ? html`<p>${t('waiting', { count: newest.counts.queued })}</p>` : null}
    <h2>${t('past')}</h2>
    ${newest?.runs.length === 0 ? html`<p class="hint">${t('none')}</p>` : null}
    ${
      (newest?.runs.length ?? 0) === 0
        ? null
        : html`<div class="scroll" tabindex="0"><table>
      <thead><tr><th>${t('when')}</th><th>${t('chat')}</th><th>${t('state')}</th><th class="number">${t('took')}</th>
        <th class="number">${t('steps')}</th><th class="number">${t('tokens')}</th><th class="number">${t('cost')}</th></tr></thead>
      <tbody>${newest?.runs.map(
        (one) => html`<tr key=${one.seq}>
          <td><a href=${linkTo('turns', String(one.seq))}>${moment(one.startedAt)}</a></td>
          <td class="name">${one.chatName}</td>
          <td class=${one.state === 'answered' ? 'good' : 'bad'}>${t(one.state)}${one.error === null ? '' : ` (${one.error})`} ${retryOf(one)}</td>
          <td class="number">${duration(one.endedAt - one.startedAt)}</td>
          <td class="number">${one.modelCalls + one.toolCalls}</td>
          <td class="number">${count(read(one) + one.outputTokens)}</td>
          <td class="number">${money(one.microUsd)}</td></tr>`,
      )}</tbody></table></div>`
    }`;
}

const read = ({ inputTokens, cacheReadTokens, cacheWriteTokens }: Tokens) =>
  inputTokens + cacheReadTokens + cacheWriteTokens;

type StepsFacts = {
  readonly run: Run;
  /** The button that runs it again, where that can be done. */
  readonly retry: VNode | null;
};

function Steps({ run, retry }: StepsFacts): VNode {
  const [steps, setSteps] = useState<readonly Step[]>([]);
  useEffect(
    () => void get<readonly Step[]>('turns/steps', { seq: run.seq }).then(setSteps),
    [run.seq],
  );
  const whole = Math.max(1, run.endedAt - run.startedAt);
  return html`<p><a href=${linkTo('turns')}>‹ ${t('all')}</a></p>
    <h1>${run.chatName}, ${moment(run.startedAt)}</h1>
    <dl class="facts">
      <dt>${t('state')}</dt><dd>${t(run.state)}${run.error === null ? '' : ` (${run.error})`}</dd>
      <dt>${t('model')}</dt><dd>${run.model ?? '–'}</dd>
      <dt>${t('took')}</dt><dd>${duration(whole)}</dd>
      <dt>${t('read')}</dt><dd>${count(read(run))} (${t('cached', { count: count(run.cacheReadTokens) })})</dd>
      <dt>${t('written')}</dt><dd>${count(run.outputTokens)}</dd>
      <dt>${t('cost')}</dt><dd>${money(run.microUsd)}${run.unpricedCalls > 0 ? ` ${t('unpriced')}` : ''}</dd>
    </dl>
    <ol class="steps">${steps.map(
      (step) => html`<li class="card">
        <div class="row"><strong>${step.name}</strong><span class="tag">${t(step.kind)}</span>
          <span class="push">${duration(step.durationMs)}${step.microUsd === null ? '' : ` · ${money(step.microUsd)}`}</span></div>
        <progress max=${whole} value=${Math.min(whole, step.startedMs + step.durationMs)} aria-label=${t('until')}></progress>
        ${step.kind === 'model' ? html`<p class="hint">${t('read')} ${count(read(step))} (${t('cached', { count: count(step.cacheReadTokens) })}), ${t('written')} ${count(step.outputTokens)}</p>` : null}
        ${step.error === null ? null : html`<p class="problem">${step.error}</p>`}
      </li>`,
    )}</ol>
    ${run.leftOut > 0 ? html`<p class="hint">${t('left-out', { count: run.leftOut })}</p>` : null}
    ${retry === null ? null : html`<p>${retry}</p>`}
    <p class="hint"><code>npx claw trace ${run.turnId.slice(0, 8)}</code></p>`;
}
