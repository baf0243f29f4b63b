import { Component, html, type VNode } from './vendor.ts';

/**
 * Makes a view that is drawn anew only when one of its facts is another one. A node that is kept by `useMemo` would hold the
 * page as it was when the node was made, with all that was shown in it.
 */
export function memo<P extends object>(
  view: (props: P) => VNode | null,
  factsOf: (props: P) => readonly unknown[],
) {
  return class extends Component<P> {
    override shouldComponentUpdate(next: P): boolean {
      const facts = factsOf(this.props);
      return factsOf(next).some((fact, at) => fact !== facts[at]);
    }

    override render(): VNode {
      return html`<${view} ...${this.props} />`;
    }
  };
}
