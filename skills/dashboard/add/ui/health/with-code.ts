import { html, type VNode } from '../vendor.ts';

/** Shows a sentence of the assistant: what stands between backticks is code. */
export function withCode(text: string): readonly (string | VNode)[] {
  return text.split('`').map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : part));
}
