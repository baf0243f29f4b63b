import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { defineService, type ServiceContext } from '../host/contracts/service.ts';
import type { Tool } from '../host/contracts/tool.ts';
import type { HttpRequest, HttpResponse } from '../http/route.ts';
import { jsonWithin } from '../lib/bounded-json.ts';
import { linearAt } from '../lib/linear/api.ts';
import { changeIssue, readIssue } from '../lib/linear/issue.ts';
import { nudge } from '../lib/linear/nudge.ts';
import { LINEAR_JID, LinearEnvironment, linearOf } from '../lib/linear/settings.ts';

/** Linear signs the time of sending; what is older was recorded by somebody. */
const TOLERANCE_MS = 60_000;
const MAX_BODY_BYTES = 5 * 1_048_576;

/** Linear's webhook, which makes the channel look at once, and the tools for issues. */
export const service = defineService({
  name: 'linear',
  settings: LinearEnvironment,
  async start(context) {
    const { LINEAR_WEBHOOK_SECRET: secret } = context.settings;
    const tools = toolsOf(context);
    // Without a key there is nothing to do; the channel says so.
    if (tools.length === 0) return { stop() {}, status: () => null };
    const counts = { taken: 0, refused: 0 };
    const route = secret === undefined ? null : await openWebhook(context, secret, counts);
    return {
      stop() {},
      status: () =>
        route === null
          ? null
          : `webhook at ${route.url}; ${counts.taken} taken, ${counts.refused} refused`,
      tools() {
        const groups = context.store.groups.all();
        const folders = groups
          .filter(({ jid, isMain }) => isMain || jid === LINEAR_JID)
          .map(({ folder }) => folder);
        return tools.map((tool) => ({ ...tool, folders }));
      },
    };
  },
});

async function openWebhook(
  { route, dataDir, now }: ServiceContext,
  secret: string,
  counts: { taken: number; refused: number },
): Promise<{ readonly url: string }> {
  return await route({
    method: 'POST',
    path: '/webhook',
    access: 'own',
    maxBytes: MAX_BODY_BYTES,
    handle(request): HttpResponse {
      const refusal = refusalOf(secret, request, now());
      counts[refusal === null ? 'taken' : 'refused'] += 1;
      if (refusal !== null) return { status: 401, body: `${refusal}\n` };
      // What it says is asked for at Linear: a delivery that is sent again does no harm.
      nudge(dataDir);
      return { body: 'ok\n' };
    },
  });
}

const Body = z.looseObject({ webhookTimestamp: z.number() });

/** Source: linear.app/developers/webhooks, Securing webhooks */
function refusalOf(secret: string, { headers, body }: HttpRequest, now: number): string | null {
  const given = headers['linear-signature'];
  if (typeof given !== 'string') return 'The header Linear-Signature is missing.';
  const mine = createHmac('sha256', secret).update(body).digest();
  const theirs = Buffer.from(given, 'hex');
  if (theirs.length !== mine.length || !timingSafeEqual(theirs, mine))
    return 'The signature is wrong.';
  const sentAt = Body.safeParse(jsonWithin(body)).data?.webhookTimestamp;
  const isFresh = sentAt !== undefined && Math.abs(now - sentAt) <= TOLERANCE_MS;
  return isFresh
    ? null
    : 'The delivery is more than a minute old, or one of the two clocks is wrong.';
}

const IssueName = z.string().min(1).max(60).describe('Its identifier, such as ENG-123');
const Asked = z.object({ issue: IssueName });
const Change = z.object({
  issue: IssueName,
  state: z
    .string()
    .min(1)
    .max(60)
    .optional()
    .describe('The name of a state of its team, such as In Progress'),
  priority: z.enum(['none', 'urgent', 'high', 'medium', 'low']).optional(),
  title: z.string().min(1).max(250).optional(),
  unassign: z.boolean().optional().describe('Gives the issue back: nobody is its assignee then'),
});

function toolsOf({
  settings,
}: {
  readonly settings: z.output<typeof LinearEnvironment>;
}): readonly Tool[] {
  const linear = linearOf(settings);
  if (linear === null) return [];
  const ask = linearAt(linear);
  return [
    {
      name: 'linear_get_issue',
      description:
        'Reads a Linear issue: description, state, the states that there are, and its comments.',
      doing: 'reading an issue',
      isMainOnly: false,
      repeat: 'harmless',
      brings: 'outside',
      input: Asked,
      run: ({ signal }, input) => readIssue(ask, Asked.parse(input).issue, signal),
    },
    {
      name: 'linear_update_issue',
      description: 'Changes the state, priority or title of a Linear issue, or gives it back.',
      doing: 'changing an issue',
      isMainOnly: false,
      repeat: 'once',
      brings: 'outside',
      input: Change,
      run({ signal }, input) {
        const { issue, ...change } = Change.parse(input);
        return changeIssue(ask, issue, change, signal);
      },
    },
  ];
}
