import { Command } from '../command.ts';
import { epoch, onLive } from '../live.ts';
import { definePanel, get, linkTo, wordsOf } from '../page.ts';
import { html, useEffect, useState, type VNode } from '../vendor.ts';

const t = wordsOf('code');

type Skill = {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly applied: boolean;
};
type Status = {
  readonly core: { readonly version: string } | null;
  readonly edits: readonly { readonly path: string; readonly kind: string }[];
  readonly pending: object | null;
};
type Logged = { readonly verb?: string; readonly command?: string };
type Overview = {
  readonly skills: readonly Skill[];
  readonly status: Status | null;
  readonly log: readonly Logged[];
};
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
    readonly packages?: readonly unknown[];
    readonly consent?: readonly string[];
  } | null;
  readonly conflicts: readonly Conflict[];
  readonly warnings: readonly string[];
  readonly error: { readonly message: string } | null;
};
type Range = {
  readonly from: number;
  readonly to: number;
  readonly owner: string;
  readonly kind: string;
  readonly version?: string | null;
  readonly text: string;
};
type Why = { readonly path: string; readonly ranges: readonly Range[]; readonly binary: boolean };

export const panel = definePanel({
  name: 'code',
  order: 300,
  scope: 'read',
  icon: 'M8 7l-5 5 5 5M16 7l5 5-5 5M14 4l-4 16',
  view: View,
});

function View({ rest: [what, ...more] }: { readonly rest: readonly string[] }): VNode {
  if (what === 'plan') return html`<${PlanView} verb=${more[0] ?? ''} skill=${more[1] ?? ''} />`;
  if (what === 'why') return html`<${WhyView} path=${more.join('/')} />`;
  if (what === 'edits') return html`<${Edits} />`;
  return html`<${OverviewView} />`;
}

function OverviewView(): VNode {
  const [overview, setOverview] = useState<Overview | null>(null);
  const [conflicts, setConflicts] = useState<{ readonly open: readonly string[] } | null>(null);
  useEffect(() => {
    const read = () => {
      void get<Overview>('code/overview').then(setOverview);
      void get<{ readonly open: readonly string[] } | null>('code/conflicts').then(setConflicts);
    };
    read();
    return onLive((event) => {
      if (event.kind === 'ended' || event.kind === 'hello') read();
    });
  }, [epoch.value]);
  if (overview === null)
    return html`<h1>${t('title')}</h1><p class="hint" role="status">${t('reading')}</p>`;
  const { skills, status } = overview;
  const applied = skills.filter((skill) => skill.applied);
  const edits = status?.edits ?? [];
  return html`<h1>${t('title')}</h1>
    <p>${t('release')} ${status?.core?.version ?? t('no-core')}, ${t('skills-in', { count: applied.length })},${' '}
      ${edits.length === 0 ? t('no-edits') : html`<a href=${linkTo('code', 'edits')}>${t('edits', { count: edits.length })}</a>`}</p>
    ${
      (conflicts?.open.length ?? 0) === 0
        ? null
        : html`<div class="card"><h3 class="bad">${t('blocked')}</h3>
      <ul>${conflicts?.open.map((path) => html`<li><code>${path}</code></li>`)}</ul>
      <${Command} line="conflicts" label=${t('resolve')} /></div>`
    }
    <${Asker} />
    <div class="row">
      <${Command} line="undo" label=${t('undo')} />
      <${Command} line="update" label=${t('update')} />
    </div>
    <h2>${t('in')}</h2>
    ${applied.length === 0 ? html`<p class="hint">${t('none-in')}</p>` : null}
    ${applied.map((skill) => html`<${Card} key=${skill.name} skill=${skill} />`)}
    <h2>${t('out')}</h2>
    ${skills.filter((skill) => !skill.applied).map((skill) => html`<${Card} key=${skill.name} skill=${skill} />`)}`;
}

function Card({
  skill: { name, version, description, applied },
}: {
  readonly skill: Skill;
}): VNode {
  const verb = applied ? 'remove' : 'apply';
  return html`<article class="card">
    <div class="row"><h3>${name}</h3><span class="tag">${version}</span>
      <a class="push" href=${linkTo('code', 'plan', verb, name)}>${t(`look-${verb}`)}</a></div>
    <p>${description}</p>
  </article>`;
}

function Asker(): VNode {
  const ask = (event: Event) => {
    event.preventDefault();
    const path = String(new FormData(event.target as HTMLFormElement).get('path')).trim();
    if (path !== '') location.hash = linkTo('code', 'why', ...path.split('/'));
  };
  return html`<form class="row" onSubmit=${ask}>
    <label for="why-path">${t('why')}</label>
    <input id="why-path" name="path" placeholder="src/host/host.ts" maxlength="400" />
    <button type="submit">${t('ask')}</button>
  </form>`;
}

function PlanView({ verb, skill }: { readonly verb: string; readonly skill: string }): VNode {
  const [plan, setPlan] = useState<Plan | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    const read = () =>
      void get<Plan>('code/plan', { verb, skill }).then(setPlan, ({ message }) =>
        setProblem(message),
      );
    read();
    return onLive((event) => event.kind === 'ended' && read());
  }, [verb, skill, epoch.value]);
  const line =
    verb === 'remove'
      ? `remove-${skill}`
      : verb === 'upgrade'
        ? `upgrade ${skill}`
        : `add-${skill}`;
  const patches = plan?.data?.patches ?? [];
  return html`<p><a href=${linkTo('code')}>‹ ${t('all')}</a></p>
    <h1>${t(`plan-${verb}`, { skill })}</h1>
    ${problem === null ? null : html`<p class="problem" role="alert">${problem}</p>`}
    ${plan === null && problem === null ? html`<p class="hint" role="status">${t('reading')}</p>` : null}
    ${plan?.error ? html`<p class="problem" role="alert">${plan.error.message}</p>` : null}
    ${plan?.warnings.map((warning) => html`<p class="hint">${warning}</p>`)}
    ${plan?.conflicts.map((conflict) => html`<${Sides} conflict=${conflict} />`)}
    ${
      plan !== null && plan.error === null && plan.conflicts.length === 0
        ? html`<p class="row"><${Command} line=${line} label=${t(`do-${verb}`)} />
          <span>${t('files', { count: patches.length })}</span></p>`
        : null
    }
    <${Patches} patches=${patches} />`;
}

/** Both sides of a conflict beside each other. */
function Sides({ conflict: { path, layers, hunks } }: { readonly conflict: Conflict }): VNode {
  return html`<article class="card"><h3 class="bad">${path}</h3>
    ${hunks.map(
      ({ ours, theirs }) => html`<div class="sides">
        <figure><figcaption>${layers[0] ?? t('ours')}</figcaption><pre tabindex="0">${ours}</pre></figure>
        <figure><figcaption>${layers[1] ?? t('theirs')}</figcaption><pre tabindex="0">${theirs}</pre></figure>
      </div>`,
    )}</article>`;
}

function Patches({ patches }: { readonly patches: readonly Patch[] }): VNode {
  return html`<div>${patches.map(
    (patch) => html`<details class="patch" key=${patch.path} open=${patches.length <= 5}>
      <summary><code>${patch.path}</code> <span class="tag">${t(patch.kind)}</span>${' '}
        <span class="good">+${patch.added}</span> <span class="bad">−${patch.removed}</span></summary>
      <${Lines} patch=${patch.patch} />
    </details>`,
  )}</div>`;
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
    .map((line) => html`<span class=${KINDS[line[0] ?? ''] ?? ''}>${line}\n</span>`)}</pre>
    ${body.length > shown ? html`<button type="button" onClick=${() => setShown(shown + 4_000)}>${t('more', { count: body.length - shown })}</button>` : null}`;
}

const KINDS: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed', '@': 'place' };

function Edits(): VNode {
  const [edits, setEdits] = useState<readonly Patch[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    void get<{ readonly files: readonly Patch[] }>('code/edits').then(
      ({ files }) => setEdits(files),
      ({ message }) => setProblem(message),
    );
  }, [epoch.value]);
  return html`<p><a href=${linkTo('code')}>‹ ${t('all')}</a></p><h1>${t('your-edits')}</h1>
    ${problem === null ? null : html`<p class="problem" role="alert">${problem}</p>`}
    ${edits === null ? null : html`<${Patches} patches=${edits} />`}`;
}

function WhyView({ path }: { readonly path: string }): VNode {
  const [why, setWhy] = useState<Why | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    setProblem(null);
    void get<Why>('code/why', { path }).then(setWhy, ({ message }) => setProblem(message));
  }, [path, epoch.value]);
  const owners = [...new Set(why?.ranges.map(({ owner }) => owner))];
  return html`<p><a href=${linkTo('code')}>‹ ${t('all')}</a></p><h1><code>${path}</code></h1>
    ${problem === null ? null : html`<p class="problem" role="alert">${problem}</p>`}
    ${why === null ? null : html`<ul class="row owners">${owners.map((owner, at) => html`<li class=${`owner-${at % 6}`}>${owner}</li>`)}</ul>`}
    ${why?.binary ? html`<p class="hint">${t('binary')}</p>` : null}
    <div class="why scroll" tabindex="0">${why?.ranges.map(
      ({
        from,
        owner,
        kind,
        version,
        text,
      }) => html`<div class=${`range owner-${owners.indexOf(owner) % 6}`}>
        <span class="who" title=${`${t(kind)} ${version ?? ''}`}>${owner}</span>
        <pre>${text
          .replace(/\n$/, '')
          .split('\n')
          .map((line, at) => html`<span class="number">${from + at}</span>${line}\n`)}</pre>
      </div>`,
    )}</div>`;
}
