import { defineService, type ServiceContext } from '../host/contracts/service.ts';
import type { HttpRequest, HttpResponse } from '../http/route.ts';
import { readContent } from '../lib/webhook/content.ts';
import { type Hook, readHooks } from '../lib/webhook/hook.ts';
import { prove } from '../lib/webhook/proof.ts';
import { type Deliveries, idOf, openDeliveries } from './hooks/deliveries.ts';
import { type Delivery, messageOf, promptOf } from './hooks/words.ts';

const MAX_BODY_BYTES = 5 * 1_048_576;
/** Refusals are told in the log once in this time, with their number. */
const TELL_MS = 60_000;

/** Webhooks: programs outside start a turn or put a message into a chat, at `/hooks/<name>`. */
export const service = defineService({
  name: 'hooks',
  async start(context) {
    const deliveries = openDeliveries(context.openDatabase, context.now);
    const counts = { taken: 0, refused: 0, untold: 0, toldAt: Number.NEGATIVE_INFINITY };
    const onRefused = (name: string, reason: string): void => {
      counts.refused += 1;
      counts.untold += 1;
      if (context.now() - counts.toldAt < TELL_MS) return;
      context.log.warn('a webhook was refused', { hook: name, reason, refusals: counts.untold });
      counts.toldAt = context.now();
      counts.untold = 0;
    };
    const { url } = await context.route({
      method: 'POST',
      path: '/*',
      access: 'own',
      maxBytes: MAX_BODY_BYTES,
      async handle(request) {
        const answer = await answerTo({ ...context, deliveries }, request);
        if (answer.status === 202) counts.taken += 1;
        else if (answer.status >= 400) onRefused(request.rest.slice(0, 64), answer.text);
        const headers = { 'content-type': 'text/plain; charset=utf-8' };
        return { status: answer.status, headers, body: `${answer.text}\n` } satisfies HttpResponse;
      },
    });
    return { stop() {}, status: () => statusOf(context, url, counts) };
  },
});

type Parts = Pick<
  ServiceContext,
  'dataDir' | 'now' | 'newId' | 'log' | 'queueTurn' | 'queueMessage'
> & { readonly deliveries: Deliveries };

type Answer = { readonly status: number; readonly text: string };

/** Takes a delivery, once: what it starts is queued before the delivery is kept and the sender hears of it. */
async function answerTo(parts: Parts, { rest, headers, body }: HttpRequest): Promise<Answer> {
  const read = readHooks(parts.dataDir);
  if (!read.ok) {
    parts.log.warn('webhooks cannot be taken', { reason: read.problem });
    return { status: 503, text: 'The hooks cannot be read. The owner is told in the log.' };
  }
  const hook = read.hooks.find(({ name }) => name === rest);
  if (hook === undefined) return { status: 404, text: 'There is no such hook.' };
  const proof = prove(hook, { headers, body, now: parts.now() });
  if (proof.kind === 'refused') return { status: proof.status, text: proof.reason };
  const content = await readContent(headers['content-type'], body);
  if (content.kind === 'refused') return { status: content.status, text: content.reason };
  const event = eventOf(hook, headers['x-github-event']);
  // GitHub asks whether anybody is there.
  if (event === 'ping') return { status: 200, text: 'pong' };
  if (parts.deliveries.isKnown(hook.name, proof.keys)) {
    return { status: 200, text: 'This delivery was taken before.' };
  }
  const [key] = proof.keys;
  const id = key === undefined ? parts.newId() : idOf(hook.name, key);
  try {
    queue(parts, hook, { id, value: content.value, event });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    parts.log.warn('a webhook has no chat', { hook: hook.name, reason });
    return { status: 503, text: 'Its chat is not there. The owner is told in the log.' };
  }
  parts.deliveries.keep(hook.name, proof.keys);
  return { status: 202, text: `Taken as ${id}.` };
}

function queue(
  { queueTurn, queueMessage }: Parts,
  hook: Hook,
  { id, ...delivery }: Delivery & { readonly id: string },
): void {
  const { group: folder } = hook;
  if (hook.does === 'message') queueMessage({ id, folder, text: messageOf(hook, delivery) });
  else {
    const prompt = promptOf(hook, delivery);
    queueTurn({ id, folder, prompt, context: 'group', taskType: 'webhook' });
  }
}

function eventOf({ from }: Hook, header: string | readonly string[] | undefined): string | null {
  return from === 'github' && typeof header === 'string' ? header.slice(0, 64) : null;
}

function statusOf(
  { dataDir, store }: Pick<ServiceContext, 'dataDir' | 'store'>,
  url: string,
  { taken, refused }: { readonly taken: number; readonly refused: number },
): string {
  const read = readHooks(dataDir);
  if (!read.ok) return read.problem;
  if (read.hooks.length === 0) return 'no hooks yet: `npx claw setup webhook` makes one';
  const lost = read.hooks.filter(({ group }) => store.groups.byFolder(group) === null);
  const names = read.hooks.map(({ name }) => name).join(', ');
  const trouble = lost.map(
    ({ name, group }) => `; ${name} has no chat: none has the folder ${group}`,
  );
  return `${names} at ${url}; ${taken} taken, ${refused} refused${trouble.join('')}`;
}
