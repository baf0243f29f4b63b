import { LinkedChannel } from './linked-channel.ts';
import type { Person } from './people/person.ts';
import { startWhatsAppServer, type WhatsAppServer } from './server.ts';

const ANNA = { phoneNumber: '4915111111111', lidNumber: '100000000001', name: 'Anna' };
export const BERT = { phoneNumber: '4915122222222', lidNumber: '100000000002', name: 'Bert' };

/** A channel that is linked to WhatsApp's far end, where Anna has an account as well. */
export type LinkedToAnna = {
  readonly server: WhatsAppServer;
  readonly linked: LinkedChannel;
  readonly anna: Person;
};

/** Starts the far end and links a channel to it, connected unless the test does that itself. */
export async function linkToAnna({ isConnected = true } = {}): Promise<LinkedToAnna> {
  const server = await startWhatsAppServer();
  const anna = server.person(ANNA);
  const linked = new LinkedChannel(server);
  await linked.pair();
  if (isConnected) await linked.connect();
  return { server, linked, anna };
}

/** Ends both. */
export async function unlink({ linked, server }: Omit<LinkedToAnna, 'anna'>): Promise<void> {
  await linked.close();
  await server.close();
}
