import { wordsOf } from './page.ts';
import { html, useEffect, useState, type VNode } from './vendor.ts';

const t = wordsOf('main');

/** Makes a view of one whose module is loaded when somebody first looks at it. */
export function whenLooked<P extends object>(
  load: () => Promise<(props: P) => VNode | null>,
): (props: P) => VNode {
  let known: ((props: P) => VNode | null) | null = null;
  return function Loaded(props) {
    const [, setLoaded] = useState(known !== null);
    useEffect(() => {
      if (known !== null) return;
      void load().then((view) => {
        known = view;
        setLoaded(true);
      });
    }, []);
    return known === null
      ? html`<p class="hint" role="status">${t('reading')}</p>`
      : html`<${known} ...${props} />`;
  };
}
