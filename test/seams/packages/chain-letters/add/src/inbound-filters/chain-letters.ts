import { z } from 'zod';
import { defineInboundFilter } from '../host/contracts/inbound-filter.ts';

export const filter = defineInboundFilter({
  name: 'chain-letters',
  order: 300,
  onFailure: 'pass',
  settings: z.object({ CHAIN_LETTER_WORDS: z.string().optional() }),
  needs: ['CHAIN_LETTER_WORDS'],
  create({ settings: { CHAIN_LETTER_WORDS: list = '' } }) {
    const words = list
      .toLowerCase()
      .split(/[\s,]+/)
      .filter((word) => word !== '');
    if (words.length === 0) return null;
    return ({ text, sender: { isOwner } }) => {
      const said = text.toLowerCase();
      if (isOwner) return { kind: 'pass' };
      if (words.some((word) => said.includes(word)))
        return { kind: 'drop', reason: 'a chain letter' };
      return said.includes('send this to')
        ? { kind: 'change', note: 'It asks to be sent on, which only the owner may ask for.' }
        : { kind: 'pass' };
    };
  },
});
