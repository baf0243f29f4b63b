import { z } from 'zod';
import { defineService, type ServiceContext } from '../host/contracts/service.ts';
import type { HttpRequest, HttpResponse } from '../http/route.ts';
import { Fleet } from '../lib/fleet/fleet.ts';
import { FleetBook, type Instance } from '../lib/fleet/fleet-book.ts';

const MINUTE_MS = 60_000;
const LOOK_MS = 30_000;
/** Below the 30 s that a route has. */
const HOLD_MS = 25_000;
/** A task is due once its instance is up. */
const EARLY_MS = 60_000;
const MAX_BYTES = 5 * 1_048_576;
/** What belongs to a hop, or would be another address than the one that the instance listens on. */
const NOT_PASSED =
  /^(host|connection|content-length|transfer-encoding|keep-alive|upgrade|te|trailer|expect|accept-encoding)$/;

/**
 * Stops instances that have nothing to do, and wakes them for a task or for a request to their door:
 * `/fleet/<name>/hooks/door` of this machine is `/hooks/door` of that instance.
 */
export const service = defineService({
  name: 'fleet',
  settings: z.object({ FLEET_MEMORY: z.string().default('2g') }),
  async start(context) {
    const { dataDir, settings, now, signal, log, route } = context;
    const book = new FleetBook(dataDir);
    if (!book.isThere) return { stop() {}, status: () => null };
    const progress = (text: string) => log.info(text);
    const memory = settings.FLEET_MEMORY;
    const fleet = new Fleet({ book, memory, projectDir: '', now, signal, progress });
    const waking = new Map<string, Promise<void>>();

    const wake = (name: string): Promise<void> => {
      const running = waking.get(name);
      if (running !== undefined) return running;
      const started = book
        .exclusively(HOLD_MS, async () => void (await fleet.wake(name)))
        .finally(() => waking.delete(name));
      waking.set(name, started);
      // Whoever waits has gone on after a while; the log has it.
      started.catch((error: unknown) =>
        log.warn('an instance did not wake', { name, error: String(error) }),
      );
      return started;
    };

    const { url } = await route({
      method: 'POST',
      path: '/*',
      access: 'own',
      maxBytes: MAX_BYTES,
      handle: (request) => atTheDoor({ fleet, book, wake }, request, context),
    });
    // After a power cut in the middle of an upgrade nobody may be there to call the next command.
    let said: string | null = null;
    const settle = async (): Promise<void> => {
      if ((await book.interrupted()) === null) return;
      const interrupted = await book.exclusively(0, () => fleet.settle());
      if (interrupted !== null && interrupted !== said) log.warn(interrupted);
      said = interrupted;
    };
    const look = async (): Promise<void> => {
      await settle().catch((error: unknown) =>
        log.warn('the fleet cannot be put right', { error: String(error) }),
      );
      for (const instance of book.read().instances) {
        // One that cannot be asked keeps no other awake or asleep.
        await lookAt({ fleet, book, wake, now }, instance).catch((error: unknown) =>
          log.warn('an instance cannot be looked at', {
            name: instance.name,
            error: String(error),
          }),
        );
      }
      context.setTimer(LOOK_MS, () => void look());
    };
    context.setTimer(LOOK_MS, () => void look());
    return {
      stop() {},
      status() {
        const { instances } = book.read();
        const awake = instances.filter(({ wish }) => wish === 'running').length;
        return `${awake} of ${instances.length} instances awake; their door: ${url}/<name>/`;
      },
    };
  },
});

type Parts = {
  readonly fleet: Fleet;
  readonly book: FleetBook;
  readonly wake: (name: string) => Promise<void>;
};

const refusal = (status: number, body: string, headers = {}): HttpResponse => ({
  ...{ status, body: `${body}\n`, headers: { 'content-type': 'text/plain', ...headers } },
});

/** Holds a request while its instance wakes, and hands it over. Who is allowed what is the instance's to say. */
async function atTheDoor(
  { fleet, book, wake }: Parts,
  { method, rest, query, headers, body }: HttpRequest,
  { setTimer, log }: Pick<ServiceContext, 'setTimer' | 'log'>,
): Promise<HttpResponse> {
  const [name = '', ...path] = rest.split('/');
  const instance = book.read().instances.find((one) => one.name === name);
  if (instance === undefined || path.length === 0) return refusal(404, 'There is nothing here.');
  if (instance.wish === 'stopped') return refusal(503, 'Its keeper has stopped it.');
  const { promise: late, resolve } = Promise.withResolvers<HttpResponse>();
  const again = refusal(503, 'It is waking up. Try again.', { 'retry-after': '30' });
  const cancel = setTimer(HOLD_MS, () => resolve(again));
  const answer = async (): Promise<HttpResponse> => {
    if (instance.wish === 'asleep') await wake(name);
    return await handOver(fleet, name, path, { method, query, headers, body });
  };
  const made = await Promise.race([answer(), late]).catch((error: unknown) => {
    // An instance that does not wake, or ends meanwhile, may do better the next time.
    log.warn('a request was not handed over', { name, error: String(error) });
    return again;
  });
  cancel();
  return made;
}

async function handOver(
  { containers }: Fleet,
  name: string,
  path: readonly string[],
  { method, query, headers, body }: Pick<HttpRequest, 'method' | 'query' | 'headers' | 'body'>,
): Promise<HttpResponse> {
  const passed = Object.entries(headers).flatMap(([key, value]) =>
    value === undefined || NOT_PASSED.test(key) ? [] : [[key, String(value)]],
  );
  const search = query.size === 0 ? '' : `?${query}`;
  const answer = await containers.request(name, {
    method,
    path: `/${path.map(encodeURIComponent).join('/')}${search}`,
    headers: Object.fromEntries(passed),
    body: body.toString('base64'),
  });
  return { ...answer, body: Buffer.from(answer.body, 'base64') };
}

async function lookAt(
  { fleet, book, wake, now }: Parts & { readonly now: () => number },
  instance: Instance,
): Promise<void> {
  const { name, wish, wakesAt } = instance;
  if (wish === 'asleep' && wakesAt !== null && wakesAt - EARLY_MS <= now()) await wake(name);
  if (wish !== 'running' || !(await isIdle(fleet, instance, now()))) return;
  await book.exclusively(0, async () => {
    // Somebody may have written since.
    if (book.instance(name).wish !== 'running' || !(await isIdle(fleet, instance, now()))) return;
    await fleet.stop(name, 'asleep');
  });
}

async function isIdle(
  fleet: Fleet,
  { name, idleMinutes }: Instance,
  now: number,
): Promise<boolean> {
  if (idleMinutes === null) return false;
  const look = await fleet.containers.look(name);
  if (look?.isRunning !== true) return false;
  const { open, lastMessageAt, nextTaskAt } = await fleet.containers.activity(name);
  const since = Math.max(lastMessageAt ?? 0, look.startedAt);
  const idleMs = idleMinutes * MINUTE_MS;
  const isTaskNear = nextTaskAt !== null && nextTaskAt - now < idleMs;
  return open === 0 && !isTaskNear && now - since >= idleMs;
}
