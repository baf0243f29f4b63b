import { z } from 'zod';
import { defineCompatible } from './compatible/compatible.ts';

/** Any server that speaks OpenAI's chat completions, under `local/` or a prefix of the owner's own. */
export const provider = defineCompatible({
  name: 'local',
  order: 380,
  label: 'a server of your own that speaks the OpenAI protocol',
  settings: 'LOCAL',
  address: null,
  proposedAddress: 'http://localhost:8000/v1',
  keyMadeIn: 'the settings of that server, if it wants one',
  isKeyNeeded: false,
  isLocal: true,
  usualContext: 32_768,
  furtherSettings: { LOCAL_PREFIX: z.string().optional() },
  prefixesIn({ LOCAL_PREFIX: prefix = '' }) {
    const name = prefix.trim().replace(/\/$/, '');
    return /^[a-z0-9][a-z0-9._/-]{0,60}$/i.test(name) ? [`${name}/`] : [];
  },
});
