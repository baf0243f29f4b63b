import { join } from 'node:path';
import { z } from 'zod';
import { defineService } from '../host/contracts/service.ts';
import type { Device, HttpRequest, HttpResponse } from '../http/route.ts';
import { SCOPES } from '../http/route.ts';
import { jsonWithin } from '../lib/bounded-json.ts';
import { oneOf } from '../lib/setting-values.ts';
import {
  type ApiAction,
  type ApiContext,
  ApiProblem,
  discoverApis,
  mayDoAll,
} from './dashboard/api.ts';
import { openAssets } from './dashboard/assets.ts';
import { jsonWithoutCodes } from './dashboard/entry-codes.ts';
import { answerWithFile } from './dashboard/history-file.ts';
import { sendNotices } from './dashboard/notices.ts';
import { openPush } from './dashboard/push.ts';
import { withSharedReads } from './dashboard/shared-reads.ts';
import { streamOf } from './dashboard/stream.ts';
import { MAX_PART_BYTES, openUploads } from './dashboard/uploads.ts';

/** A request of the command `/dashboard` and of the verb of its name. */
const LinkRequest = z.object({ kind: z.literal('link'), scope: z.enum(SCOPES) });
/** A message is 20,000 characters at most, and what a page sends has few parts. */
const BOUNDS = { maxBytes: 100_000, maxValues: 50, maxDepth: 4 };
const Part = z.object({ id: z.uuid(), at: z.coerce.number().int().nonnegative() });
/** Names the words of a refusal in the languages of the page. */
const WORDS = 'x-claw-problem';
const Entry = z.object({ code: z.string().max(100), name: z.string().max(200) });

/** The page: its files to everybody who reaches this machine, and what it shows to browsers that were let in. */
export const service = defineService({
  name: 'dashboard',
  settings: z.object({ DASHBOARD_PUSH_INSIDE: oneOf(['yes', 'no']).default('no') }),
  async start(context) {
    const { settings, route, devices, dataDir, log, assistantName } = context;
    const assets = openAssets({ cacheDir: join(dataDir, 'dashboard'), assistantName });
    const { url } = await route({
      method: 'GET',
      path: '/',
      access: 'own',
      handle: ({ headers }) => assets.page(headers),
    });
    await route({
      method: 'GET',
      path: '/ui/*',
      access: 'own',
      handle: ({ rest, headers }) => assets.file(rest, headers),
    });
    await route({
      method: 'GET',
      path: '/worker',
      access: 'own',
      async handle({ headers }) {
        const made = await assets.file('worker.ts', headers);
        return { ...made, headers: { ...made.headers, 'service-worker-allowed': '/dashboard' } };
      },
    });
    await route({
      method: 'POST',
      path: '/enter',
      access: 'own',
      maxBytes: 2_000,
      handle(request) {
        const { data } = Entry.safeParse(jsonWithin(request.body, BOUNDS));
        const entered = data && devices.enter(request, data.code, data.name);
        if (!entered)
          return { status: 403, body: 'This link was used, or is older than a minute.\n' };
        log.info('a browser was let in', {
          device: entered.device.id,
          scope: entered.device.scope,
        });
        return { headers: entered.headers };
      },
    });
    await route({
      method: 'GET',
      path: '/stream',
      scope: 'read',
      handle: ({ device, signal }) => ({
        headers: { 'content-type': 'text/event-stream; charset=utf-8' },
        body: streamOf(context, {
          signal: AbortSignal.any([signal, context.signal]),
          isForOwner: mayDoAll(device),
        }),
      }),
    });
    const uploads = openUploads(context);
    const keyOf = (device: Device | null, id: string) => `${device?.id ?? 'token'} ${id}`;
    await route({
      method: 'GET',
      path: '/file',
      scope: 'read',
      handle: ({ query }) => answerWithFile(context, query),
    });
    await route({
      method: 'POST',
      path: '/upload',
      scope: 'talk',
      maxBytes: MAX_PART_BYTES,
      handle({ query, body, device }) {
        const { data } = Part.safeParse(Object.fromEntries(query));
        if (data === undefined) return problem(TOO_OLD);
        try {
          return { body: String(uploads.add(keyOf(device, data.id), data.at, body)) };
        } catch (error) {
          if (error instanceof ApiProblem) return problem(error);
          throw error;
        }
      },
    });
    const push = openPush(join(dataDir, 'dashboard'), {
      isInsideAllowed: settings.DASHBOARD_PUSH_INSIDE === 'yes',
    });
    const shared = withSharedReads(context);
    for (const { name, actions } of await discoverApis()) {
      for (const [action, definition] of Object.entries(actions)) {
        await route({
          method: definition.method,
          path: `/api/${name}/${action}`,
          scope: definition.scope,
          maxBytes: BOUNDS.maxBytes,
          handle(request) {
            const { device } = request;
            const own = mayDoAll(device) ? context : shared;
            const takeFile = (id: string) => uploads.take(keyOf(device, id));
            return answer(definition, request, { context: own, device, push, takeFile });
          },
        });
      }
    }
    sendNotices(context, push);
    return {
      stop() {},
      status: () => `is at ${url}; \`/dashboard\` makes a link that lets a browser in`,
      onCall(request) {
        const { scope } = LinkRequest.parse(request);
        const { code } = devices.invite(scope);
        return devices.origins().map((origin) => `${origin}/dashboard#${code}`);
      },
    };
  },
});

async function answer(
  { input, run }: ApiAction,
  { method, query, body, device }: HttpRequest,
  about: ApiContext,
): Promise<HttpResponse> {
  const given = method === 'GET' ? Object.fromEntries(query) : jsonWithin(body, BOUNDS);
  const parsed = input.safeParse(given);
  if (!parsed.success) return problem(TOO_OLD);
  try {
    const data = await run(parsed.data, about);
    return {
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body: mayDoAll(device) ? JSON.stringify(data ?? null) : jsonWithoutCodes(data),
    };
  } catch (error) {
    if (error instanceof ApiProblem) return problem(error);
    throw error;
  }
}

const TOO_OLD = new ApiProblem('This page is older than the assistant. Load it again.', 'old');

function problem({ message, words }: ApiProblem): HttpResponse {
  return { status: 400, headers: words === null ? {} : { [WORDS]: words }, body: message };
}
