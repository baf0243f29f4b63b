import { CommandDrawer } from './command.ts';
import { followAssistant, isOnline, turns } from './live.ts';
import {
  linkTo,
  loadWords,
  may,
  type Panel,
  place,
  placeOf,
  type Scope,
  scope,
  session,
  wordsOf,
} from './page.ts';
import { html, render, signal, type VNode } from './vendor.ts';

const t = wordsOf('main');
const panels = signal<readonly Panel[]>([]);

function Page(): VNode {
  if (session.value === 'asking') return html`<main class="alone" aria-busy="true"></main>`;
  if (session.value === 'out') return html`<${LetIn} />`;
  const shown = panels.value.filter((panel) => may(panel.scope));
  const [name, ...rest] = place.value;
  const current = shown.find((panel) => panel.name === name) ?? shown[0];
  return html`<div class="page">
    <a class="skip" href="#content" onClick=${skip}>${t('skip')}</a>
    <header>
      <nav aria-label=${t('panels')}>
        ${shown.map(
          (panel) => html`<a key=${panel.name} href=${linkTo(panel.name)}
            aria-current=${panel === current ? 'page' : null}>
            <svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d=${panel.icon} /></svg>
            <span>${wordsOf(panel.name)('title')}</span>
            ${
              panel.name === 'turns' && turns.value.length > 0
                ? html`<span class="badge" aria-label=${t('running', { count: turns.value.length })}>${turns.value.length}</span>`
                : null
            }
          </a>`,
        )}
      </nav>
    </header>
    <div role="status" aria-live="polite">
      ${isOnline.value ? null : html`<p class="offline">${t('offline')}</p>`}
    </div>
    <main id="content" tabindex="-1">
      ${
        current === undefined
          ? html`<p class="hint">${t('nothing')}</p>`
          : html`<${current.view} key=${current.name} rest=${current.name === name ? rest : []} />`
      }
    </main>
    <${CommandDrawer} />
  </div>`;
}

/** For so long the place before is left in place. */
const PATIENCE_MS = 150;

/** Shows the place that the address names, once its panel has what is seen first. */
async function showPlace(): Promise<void> {
  const wanted = placeOf();
  const [name, ...rest] = wanted;
  const prepared = panels.value.find((panel) => panel.name === name)?.prepare?.(rest) ?? null;
  if (prepared !== null) {
    const patience = new Promise((done) => setTimeout(done, PATIENCE_MS));
    await Promise.race([prepared.catch(() => {}), patience]);
  }
  // Meanwhile somebody may have gone elsewhere.
  if (linkTo(...placeOf()) === linkTo(...wanted)) place.value = wanted;
}

/** The address names a panel, so it stays. */
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById('content')?.focus();
}

function LetIn(): VNode {
  return html`<main class="alone">
    <h1>${document.documentElement.dataset['name'] ?? ''}</h1>
    <p>${t('let-in')}</p>
    <p><code>npx claw dashboard</code></p>
    <p>${t('let-in-chat')} <code>/dashboard</code></p>
    ${refusal.value === null ? null : html`<p role="alert" class="problem">${t('link-used')}</p>`}
  </main>`;
}

const refusal = signal<string | null>(null);

/** Takes the code of a single-use link out of the address, and for a credential. */
async function enter(): Promise<void> {
  const [, code] = /^#([\w-]{43})$/.exec(location.hash) ?? [];
  if (code === undefined) return;
  const name = describeBrowser(navigator.userAgent);
  const body = JSON.stringify({ code, name });
  const answer = await fetch('/dashboard/enter', { method: 'POST', body });
  // Not before: where nothing was heard of it, the page is loaded again and asks again.
  history.replaceState(null, '', location.pathname);
  place.value = [];
  if (!answer.ok) refusal.value = await answer.text();
}

function describeBrowser(agent: string): string {
  const browser = /Firefox|Edg|OPR|Chrome|Safari/.exec(agent)?.[0] ?? 'Browser';
  const system = /Android|iPhone|iPad|Windows|Mac OS|Linux/.exec(agent)?.[0] ?? '';
  return `${browser} ${system}`.trim();
}

async function start(): Promise<void> {
  // Nothing here waits for the other: a slow way to the assistant is gone once.
  const [me] = await Promise.all([enter().then(whoAmI), loadPanels(), loadWords()]);
  // A link that is opened in a tab which has the page already changes nothing but its address.
  addEventListener('hashchange', () => {
    if (/^#[\w-]{43}$/.test(location.hash)) location.reload();
    else void showPlace();
  });
  if (me === null) {
    session.value = 'out';
    return;
  }
  scope.value = me.scope;
  session.value = 'in';
  followAssistant();
  // A browser has it only where the way to the page is safe.
  const workers = 'serviceWorker' in navigator ? navigator.serviceWorker : null;
  void workers?.register('/dashboard/worker', { scope: '/dashboard' }).catch(console.warn);
}

/**
 * Asks what this browser may do.
 *
 * @returns null for one that was not let in; rejects where the answer does not come, which says nothing about that
 */
async function whoAmI(): Promise<{ readonly scope: Scope } | null> {
  const answer = await fetch('/dashboard/api/settings/me');
  // Of a proxy whose assistant is down it is no refusal.
  if (answer.status >= 500) throw new Error(`${answer.status} ${answer.statusText}`);
  return answer.ok ? await answer.json() : null;
}

async function loadPanels(): Promise<void> {
  const found = await fetch(new URL('panels.json', import.meta.url));
  const names: readonly string[] = await found.json();
  await Promise.all(names.map((name) => loadPanel(name, AGAIN_MS)));
}

/** Brings in a panel. Without one that does not come the others work, and it is asked for again, ever less often. */
async function loadPanel(name: string, waitMs: number): Promise<void> {
  try {
    const { panel } = (await import(`./panels/${name}.ts`)) as { readonly panel: Panel };
    panels.value = [...panels.value, panel].sort((one, other) => one.order - other.order);
  } catch (error) {
    console.error(`The panel ${name} cannot be loaded.`, error);
    setTimeout(() => void loadPanel(name, 2 * waitMs), waitMs);
  }
}

render(html`<${Page} />`, document.body);
/** So long after a part of the page did not come it is asked for again: a panel alone, and all of it for the rest. */
const AGAIN_MS = 1_000;

start().catch((error: unknown) => {
  console.warn('The page is loaded again.', error);
  setTimeout(() => location.reload(), AGAIN_MS);
});
