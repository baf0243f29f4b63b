import { epoch } from './live.ts';
import { wordsOf } from './page.ts';
import { html, signal, useEffect, type VNode } from './vendor.ts';

const t = wordsOf('main');

/** A module that did not come is asked for again after so long, and at once when the connection is back. */
const AGAIN_MS = 3_000;

type View<P> = (props: P) => VNode | null;

/**
 * Makes a view of one whose module is loaded when somebody first looks at it. Where the module does not come, the page
 * says so and asks again, for as long as somebody looks; some browsers keep a failure until the page is loaded again,
 * for which there is a button.
 */
export function whenLooked<P extends object>(load: () => Promise<View<P>>): (props: P) => VNode {
  const known = signal<View<P> | null>(null);
  const isMissing = signal(false);
  let isLoading = false;
  let watchers = 0;
  let timer = 0;

  async function look(): Promise<void> {
    if (isLoading || watchers === 0 || known.value !== null) return;
    isLoading = true;
    clearTimeout(timer);
    try {
      known.value = await load();
    } catch (error) {
      console.warn('A part of the page did not come.', error);
      isMissing.value = true;
      timer = setTimeout(look, AGAIN_MS);
    } finally {
      isLoading = false;
    }
  }

  return function Loaded(props) {
    useEffect(() => {
      watchers += 1;
      void look();
      return () => {
        watchers -= 1;
      };
    }, [epoch.value]);
    if (known.value !== null) return html`<${known.value} ...${props} />`;
    if (!isMissing.value) return html`<p class="hint" role="status">${t('reading')}</p>`;
    return html`<p role="status"><span class="problem">${t('not-loaded')}</span>
      <button type="button" onClick=${() => location.reload()}>${t('load-page')}</button></p>`;
  };
}
