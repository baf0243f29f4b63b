import { Command } from '../command.ts';
import { epoch, onLive } from '../live.ts';
import { codeLine, get, linkTo, wordsOf } from '../page.ts';
import { html, useEffect, useState, type VNode } from '../vendor.ts';
import { Sides } from './conflict-sides.ts';

// What a command would change, as a diff before the yes; and the owner's edits in the same form.

const t = wordsOf('code');

type Patch = {
  readonly path: string;
  readonly kind: string;
  readonly patch: string;
  readonly added: number;
  readonly removed: number;
};
type Conflict = {
  readonly path: string;
  readonly layers: readonly string[];
  readonly reason: string;
  readonly hunks: readonly {
    readonly base: string;
    readonly ours: string;
    readonly theirs: string;
  }[];
};
type Plan = {
  readonly ok: boolean;
  readonly data: {
    readonly patches?: readonly Patch[];
    readonly packages?: readonly string[];
    readonly settings?: readonly string[];
    readonly consent?: readonly string[];
    readonly undone?: string;
  } | null;
  readonly conflicts: readonly Conflict[];
  readonly warnings: readonly string[];
  readonly error: { readonly message: string } | null;
};

/** Returns the command that carries a plan out, as it is said in the chat. */
function lineOf(verb: string, name: string): string {
  if (verb === 'apply') return `add-${name}`;
  if (verb === 'remove') return `remove-${name}`;
  return [verb, name].join(' ').trim();
}

export function PlanView({
  rest: [verb = '', ...names],
}: {
  readonly rest: readonly string[];
}): VNode {
  const name = names.join('/');
  const [plan, setPlan] = useState<Plan | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    const read = () =>
      void get<Plan>('code/plan', name === '' ? { verb } : { verb, name }).then(
        setPlan,
        ({ message }) => setProblem(message),
      );
    read();
    return onLive((event) => event.kind === 'ended' && read());
  }, [verb, name, epoch.value]);
  const {
    patches = [],
    packages = [],
    settings = [],
    consent = [],
    undone = '',
  } = plan?.data ?? {};
  const line = lineOf(verb, name);
  return html`<p><a href=${linkTo('code')}>‹ ${t('all')}</a></p>
    <h1>${t(`plan-${verb}`, { skill: name || undone || t('all-skills') })}</h1>
    ${problem === null ? null : html`<p class="problem" role="alert">${problem}</p>`}
    ${plan === null && problem === null ? html`<p class="hint" role="status">${t('reading')}</p>` : null}
    ${plan?.error ? html`<p class="problem" role="alert" lang="en">${plan.error.message}</p>` : null}
    ${plan?.warnings.map((warning) => html`<p class="hint">${warning}</p>`)}
    ${plan?.conflicts.map(
      (conflict) => html`<article class="card"><h3 class="bad">${conflict.path}</h3>
        <p lang="en">${conflict.reason}</p>
        ${conflict.hunks.map((hunk, at) => html`<${Sides} key=${at} layers=${conflict.layers} ...${hunk} />`)}</article>`,
    )}
    ${
      plan === null || plan.error !== null
        ? null
        : html`<p class="row"><${Command} line=${line} label=${t(plan.conflicts.length === 0 ? `do-${verb}` : 'do-decide')} />
          <span>${t('files', { count: patches.length })}</span></p>`
    }
    ${packages.length === 0 ? null : html`<p>${t('packages')}: ${packages.map((one) => html`<code class="tag">${one}</code> `)}</p>`}
    ${settings.length === 0 ? null : html`<p>${t('settings')}: ${settings.map((one) => html`<code class="tag">${one}</code> `)}</p>`}
    ${consent.length === 0 ? null : html`<p>${t('consent')}: ${consent.map((one) => html`<code class="tag">${one}</code> `)}</p>`}
    <${Patches} patches=${patches} />`;
}

export function EditsView(): VNode {
  const [edits, setEdits] = useState<readonly Patch[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    void get<{ readonly files: readonly Patch[] }>('code/edits').then(
      ({ files }) => setEdits(files),
      ({ message }) => setProblem(message),
    );
  }, [epoch.value]);
  return html`<p><a href=${linkTo('code')}>‹ ${t('all')}</a></p><h1>${t('edits-title')}</h1>
    ${problem === null ? null : html`<p class="problem" role="alert">${problem}</p>`}
    ${edits === null ? null : html`<${Patches} patches=${edits} />`}`;
}

function Patches({ patches }: { readonly patches: readonly Patch[] }): VNode {
  return html`<div>${patches.map(
    (
      patch,
    ) => html`<details class="patch" key=${patch.path} open=${patches.length <= 5 || isTelling(patch, patches)}>
      <summary><code>${patch.path}</code> <span class="tag">${t(patch.kind)}</span>${' '}
        <span class="good">+${patch.added}</span> <span class="bad">−${patch.removed}</span></summary>
      <${Lines} patch=${patch.patch} />
      ${patch.kind === 'modify' ? html`<p><a href=${linkTo('code', 'why', ...patch.path.split('/'))}>${t('why-this')}</a></p>` : null}
    </details>`,
  )}</div>`;
}

/** Of many files, the short changes of those that are there already are open: new files can wait. */
function isTelling({ kind, added, removed }: Patch, patches: readonly Patch[]): boolean {
  return kind === 'modify' && added + removed <= 30 && patches.length <= 50;
}

const SHOWN = 400;

/** The lines of a patch, without its head; of a long one the beginning first. */
function Lines({ patch }: { readonly patch: string }): VNode {
  const [shown, setShown] = useState(SHOWN);
  const lines = patch.split('\n');
  const body = lines.slice(
    Math.max(
      0,
      lines.findIndex((line) => line.startsWith('@@')),
    ),
  );
  return html`<pre class="lines" tabindex="0">${body
    .slice(0, shown)
    .map(
      (line) => html`<span class=${KINDS[line[0] ?? ''] ?? ''}>${codeLine(line)}\n</span>`,
    )}</pre>
    ${body.length > shown ? html`<button type="button" onClick=${() => setShown(shown + 4_000)}>${t('more', { count: body.length - shown })}</button>` : null}`;
}

const KINDS: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed', '@': 'place' };
