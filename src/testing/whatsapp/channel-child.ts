import { appendFileSync } from 'node:fs';
import { WhatsAppChannel } from '../../channels/whatsapp.ts';
import { CLOCK, endpointOf } from './linked-channel.ts';

/**
 * The channel in a process of its own, to be killed: `channel-child.ts DATA_DIR STORE SOCKET_URL`. Each
 * message that it hands over becomes a line of the file STORE, at once, as a host would store it.
 */
const [dataDir = '', store = '', url = ''] = process.argv.slice(2);
const channel = new WhatsAppChannel(
  {
    settings: { assistantName: 'Andy', dataDir, owner: null },
    log: { info: () => {}, warn: () => {} },
    clock: CLOCK,
  },
  endpointOf({ url, filesUrl: url }),
);
await channel.connect({
  onMessage: async ({ text }) => appendFileSync(store, `${text}\n`),
  onChat: async () => {},
  onStatus: () => {},
});
