import { defineInboundFilter, type FilterResult } from '../host/contracts/inbound-filter.ts';
import { cutText } from '../lib/cut-text.ts';

const MOST_BYTES = 262_144;
const PASS: FilterResult = { kind: 'pass' };

/** Cuts a text that no model could take as a whole, and says so to the agent. */
export const filter = defineInboundFilter({
  name: 'size',
  order: 100,
  onFailure: 'pass',
  create: () => (message) => {
    // No character takes more than three bytes for each unit of a string.
    if (3 * message.text.length <= MOST_BYTES) return PASS;
    const { text, isTruncated } = cutText(message.text, MOST_BYTES);
    if (!isTruncated) return PASS;
    const whole = Math.ceil(Buffer.byteLength(message.text) / 1_024);
    return { kind: 'change', text, note: `cut after 256 KB of ${whole} KB` };
  },
});
